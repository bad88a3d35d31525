-- The accounts of a Supabase project as the table that Taskmesh loads: docs/moving-accounts.md
-- If people could use an account without confirming its address, add: and email_confirmed_at is not null
begin;
create table public.accounts as
select
  id,
  email::text as email,
  lower(normalize(email)) as email_key,
  left(coalesce(substring(raw_user_meta_data ->> 'name' from '[^\t-\r \u0085\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff].*'), split_part(email, '@', 1)), 255) as name,
  coalesce(encrypted_password, '') as password_hash,
  coalesce(email_confirmed_at, created_at) as email_confirmed_at,
  created_at,
  coalesce(updated_at, created_at) as updated_at
from auth.users
where email <> '' and deleted_at is null and coalesce(banned_until, '-infinity') < now();
alter table public.accounts enable row level security; -- the project's API shows no rows
commit;
