/** What each step brings: `10+5x120` begins at 10 and grows by 5. */
export interface AlertCase {
  alert: string;
  /** @default two hours in steps of a minute */
  time?: { interval: string; evalTime: string };
  series: Record<string, { fires: string; silent: string }>;
}

type Series = AlertCase['series'];

/** A series of a component, with more labels. */
const of = (component: string, metric: string, labels = '') =>
  `${metric}{namespace="prod",job="shop-taskmesh-${component}-admin",pod="p"${labels}}`;
const constant = (value: number) => `${value}x120`;
const growing = (by: number) => `0+${by}x120`;
const when = (series: string, fires: string, silent = fires): Series => ({ [series]: { fires, silent } });
const outcome = (is: string) => `,outcome="${is}"`;
const upTo = (le: string) => of('gateway', 'taskmesh_realtime_delivery_latency_seconds_bucket', `,le="${le}"`);
const respondedWith = (status: number) => of('gateway', 'http_request_duration_seconds_count', `,status="${status}"`);
const oldest = (what: string) => of('tasks', `taskmesh_${what}_oldest_pending_age_seconds`);
const [backupRuns, verified] = ['taskmesh_backup_schedule_failures_total', 'taskmesh_backup_verifications_total'];

const READY = of('gateway', 'taskmesh_ready');

/** How a verification may fail. */
const FAILED_VERIFICATIONS = ['unfit', 'unprovable', 'failed'];

/** Each alert with the series that decide whether it fires. */
const CASES: [alert: string, ...Series[]][] = [
  ['TaskmeshTargetDown', when(of('auth', 'up'), constant(0), constant(1))],
  // Crashing repeatedly, and restarted once.
  ['TaskmeshTargetDown', when(of('auth', 'up'), '0x8 1 '.repeat(12), '1x110 0x2 1x6')],
  ['TaskmeshNotReady', when(READY, constant(0), constant(1)), when(of('auth', 'taskmesh_ready'), constant(1))],
  // Neither of two pods, and one of them.
  ['TaskmeshNotReady', when(READY, constant(0)), when(READY.replace('"p"', '"q"'), constant(0), constant(1))],
  // A pod without an address is not a target.
  ['TaskmeshNotReady', when(READY, '1x60', '1x116')],
  ['TaskmeshRequestsFail', when(respondedWith(200), growing(600)), when(respondedWith(503), growing(60), growing(1))],
  [
    'TaskmeshRequestsFail', // a defect: GraphQL responds with 200
    when(respondedWith(200), growing(600)),
    when(of('gateway', 'graphql_operation_duration_seconds_count', ',operation_type="query"'), growing(600)),
    when(of('gateway', 'graphql_operation_errors_total', ',code="INTERNAL_SERVER_ERROR"'), growing(60), growing(1)),
  ],
  ['TaskmeshEventLoopLate', when(of('tasks', 'nodejs_eventloop_lag_p99_seconds'), constant(0.5), constant(0.02))],
  ['TaskmeshLogLinesLost', when(of('tasks', 'taskmesh_log_lines_lost_total'), growing(1), constant(5))],
  [
    'TaskmeshDeliverySlow',
    when(upTo('0.5'), growing(50), growing(100)),
    ...[when(upTo('5'), growing(100)), when(upTo('+Inf'), growing(100))],
  ],
  [
    'TaskmeshAccountDeletionsLate',
    when(oldest('account_deletions'), growing(60), constant(2)),
    when(of('tasks', 'taskmesh_account_log_read_age_seconds'), constant(1)),
  ],
  ['TaskmeshOutboxStuck', when(oldest('outbox'), growing(60), constant(2))],
  [
    'TaskmeshOutboxUnknown',
    when(of('tasks', 'taskmesh_outbox_published_total'), constant(1)),
    when(oldest('outbox'), '_x120', constant(0)),
  ],
  ['TaskmeshDeadLetters', when(of('tasks', 'taskmesh_dead_letters', ',source="relay"'), constant(1), constant(0))],
  ['TaskmeshGapFills', when(of('gateway', 'taskmesh_realtime_gap_fills_total'), growing(300), growing(6))],
  [
    'TaskmeshClientsTooSlow',
    when(of('gateway', 'taskmesh_realtime_connections_ended_total', ',reason="slow"'), growing(60), growing(1)),
  ],
  [
    'TaskmeshSupergraphRefused',
    // For as long as it is refused, not only soon after.
    when(of('gateway', 'taskmesh_gateway_supergraph_reloads_total', outcome('refused')), constant(1)),
    when(of('gateway', 'taskmesh_gateway_supergraph_refused'), constant(1), constant(0)),
  ],
  ['TaskmeshLoginsWait', when(of('auth', 'taskmesh_auth_password_hash_waiting'), constant(50), constant(5))],
  [
    'TaskmeshMailsFail',
    when(of('auth', 'taskmesh_auth_recovery_mails_total', outcome('failed')), growing(1), constant(9)),
  ],
  ['TaskmeshBackupFails', when(of('backup', backupRuns, ',run="retention"'), growing(1), constant(2))],
  ...FAILED_VERIFICATIONS.map((wrong): [string, ...Series[]] => [
    'TaskmeshBackupFails',
    when(of('backup', verified, outcome(wrong)), growing(1), constant(2)),
    when(of('backup', verified, outcome('ok')), growing(1)),
  ]),
  ...[constant(1), '_x120'].map((fires): [string, ...Series[]] => [
    'TaskmeshRestoreUnsettled',
    when(of('backup', 'taskmesh_backup_restores_total', ',work="undo"'), constant(0)),
    when(of('backup', 'taskmesh_backup_restores_unsettled'), fires, constant(0)),
  ]),
  ['TaskmeshRestoreLeftovers', when(of('backup', 'taskmesh_backup_restore_leftovers'), constant(1), constant(0))],
];

/** promtool's clock starts at the Unix epoch. */
const DAYS = { interval: '1h', evalTime: '12d' };
const lastBackup = of('backup', 'taskmesh_backup_last_success_timestamp_seconds');
const ofDays = ['TaskmeshBackupOld success', 'TaskmeshBackupUnproved proved'].flatMap((each): AlertCase[] => {
  const [alert = '', what] = each.split(' ');
  const name = of('backup', `taskmesh_backup_last_${what}_timestamp_seconds`);
  const ahead = when(name.replace('pod="p"', 'pod="ahead"'), '99999999x300');
  return [
    when(name, '1x300', '0+3600x300'),
    // Unknown since a restart a day ago: the last one known is old, or is not.
    when(name, '1x264 _x36', '0+3600x264 _x36'),
    // None so far: of an installation that is twelve days old, and of one that is a day old.
    when(name, '0x300', '_x263 0x37'),
    // Of a service whose clock is far ahead, alone, and beside one whose clock is right.
    when(name, '99999999x300', '600+3600x300'),
    { ...when(name, '1x300', '0+3600x300'), ...ahead },
    { ...when(name, '0x300', '0+3600x300'), ...ahead },
  ].map((series) => ({ alert, time: DAYS, series }));
});

export const ALERT_CASES: AlertCase[] = [
  ...CASES.map(([alert, ...series]): AlertCase => ({ alert, series: Object.assign({}, ...series) as Series })),
  ...ofDays,
  // The service has been away for days, and for hours.
  { alert: 'TaskmeshBackupOld', time: DAYS, series: when(lastBackup, '0+3600x200', '0+3600x280') },
];
