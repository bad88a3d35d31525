/** Returns the SQL that formats a time in RFC 3339, with milliseconds. */
export const rfc3339 = (time: string): string => `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
