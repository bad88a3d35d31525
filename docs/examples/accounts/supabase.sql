-- The accounts of a Supabase project as the table that Taskmesh loads: docs/moving-accounts.md
-- If people could use an account without confirming its address, add: and email_confirmed_at is not null
begin;
create table public.accounts as
select
  id,
  email::text as email,
  lower(normalize(email)) as email_key,
  left(coalesce(nullif(btrim(raw_user_meta_data ->> 'name', E' \t\r\n'), ''), split_part(email, '@', 1)), 255) as name,
  coalesce(encrypted_password, '') as password_hash,
  coalesce(email_confirmed_at, created_at) as email_confirmed_at,
  created_at,
  coalesce(updated_at, created_at) as updated_at
from auth.users
where email <> '' and deleted_at is null and coalesce(banned_until, '-infinity') < now();
alter table public.accounts enable row level security; -- the project's API shows no rows
commit;
