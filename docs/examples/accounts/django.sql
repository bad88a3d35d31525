-- The accounts of Django's auth_user as the table that Taskmesh loads: docs/moving-accounts.md
create table public.accounts as
select
  gen_random_uuid() as id,
  email::text as email,
  lower(normalize(email)) as email_key,
  left(coalesce(substring(btrim(first_name || ' ' || last_name) from '[^\t-\r \u0085\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff].*'), username), 255) as name,
  regexp_replace(password, '^bcrypt[$]', '') as password_hash,
  date_joined as email_confirmed_at,
  date_joined as created_at,
  date_joined as updated_at
from auth_user
where email <> '' and is_active;
