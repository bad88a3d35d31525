import { READ_PROFILE } from '@taskmesh/client';
import { useClient } from '../client-context.ts';
import { Failure } from '../elements/failure.tsx';
import { Loading } from '../elements/loading.tsx';
import { View } from '../elements/view.tsx';
import { useReading } from '../requests/use-reading.ts';
import type { ViewProps } from '../shell/view-props.ts';
import { ChangeEmail } from './change-email.tsx';
import { ChangeName } from './change-name.tsx';
import { ChangePassword } from './change-password.tsx';
import { DeleteAccount } from './delete-account.tsx';
import { ExportData } from './export-data.tsx';
import { WaysToSignIn } from './ways-to-sign-in.tsx';

export function AccountView({ user, findLosses, onDeleted }: ViewProps) {
  const client = useClient();
  const { data, error, again } = useReading(() => client.request(READ_PROFILE, {}), 'profile');
  return (
    <View title="Account">
      {!data && error === undefined && <Loading />}
      {!data && error !== undefined && <Failure error={error} onAgain={() => void again()} />}
      {data && (
        <>
          <ChangeName name={data.me.name} />
          <ChangeEmail email={data.me.email} onChanged={() => void again()} />
          <ChangePassword email={data.me.email} />
          <WaysToSignIn userId={user.id} email={data.me.email} />
          <ExportData />
          <DeleteAccount email={data.me.email} findLosses={findLosses} onDeleted={onDeleted} />
        </>
      )}
    </View>
  );
}
