-- The accounts of Django's auth_user as the table that Taskmesh loads: docs/moving-accounts.md
create table public.accounts as
select
  gen_random_uuid() as id,
  email::text as email,
  lower(normalize(email)) as email_key,
  left(coalesce(nullif(btrim(first_name || ' ' || last_name, E' \t\r\n'), ''), username), 255) as name,
  regexp_replace(password, '^bcrypt[$]', '') as password_hash,
  date_joined as email_confirmed_at,
  date_joined as created_at,
  date_joined as updated_at
from auth_user
where email <> '' and is_active;
