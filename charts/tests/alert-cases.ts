/** What each step brings: `10+5x120` begins at 10 and grows by 5. */
export interface AlertCase {
  alert: string;
  /** @default two hours in steps of a minute */
  time?: { interval: string; evalTime: string };
  series: Record<string, { fires: string; silent: string }>;
}

const of = (component: string) => `namespace="prod",job="shop-taskmesh-${component}-admin",pod="p"`;
const constant = (value: number) => `${value}x120`;
const growing = (by: number) => `0+${by}x120`;

/** How a verification may end besides well. */
const VERIFICATIONS_GONE_WRONG = ['unfit', 'unprovable', 'failed'];

/** promtool's clock begins at the beginning of Unix' time. */
const DAYS = { interval: '1h', evalTime: '12d' };

export const ALERT_CASES: AlertCase[] = [
  { alert: 'TaskmeshTargetDown', series: { [`up{${of('auth')}}`]: { fires: constant(0), silent: constant(1) } } },
  {
    alert: 'TaskmeshRequestsFail',
    series: {
      [`http_request_duration_seconds_count{${of('gateway')},status="200"}`]: {
        fires: growing(600),
        silent: growing(600),
      },
      [`http_request_duration_seconds_count{${of('gateway')},status="503"}`]: {
        fires: growing(60),
        silent: growing(1),
      },
    },
  },
  {
    alert: 'TaskmeshEventLoopLate',
    series: { [`nodejs_eventloop_lag_p99_seconds{${of('tasks')}}`]: { fires: constant(0.5), silent: constant(0.02) } },
  },
  {
    alert: 'TaskmeshLogLinesLost',
    series: { [`taskmesh_log_lines_lost_total{${of('tasks')}}`]: { fires: growing(1), silent: constant(5) } },
  },
  {
    alert: 'TaskmeshDeliverySlow',
    series: {
      [`taskmesh_realtime_delivery_latency_seconds_bucket{${of('gateway')},le="0.5"}`]: {
        fires: growing(50),
        silent: growing(100),
      },
      [`taskmesh_realtime_delivery_latency_seconds_bucket{${of('gateway')},le="5"}`]: {
        fires: growing(100),
        silent: growing(100),
      },
      [`taskmesh_realtime_delivery_latency_seconds_bucket{${of('gateway')},le="+Inf"}`]: {
        fires: growing(100),
        silent: growing(100),
      },
    },
  },
  {
    alert: 'TaskmeshAccountDeletionsLate',
    series: {
      [`taskmesh_account_deletions_oldest_pending_age_seconds{${of('tasks')}}`]: {
        fires: growing(60),
        silent: constant(2),
      },
      [`taskmesh_account_log_read_age_seconds{${of('tasks')}}`]: { fires: constant(1), silent: constant(1) },
    },
  },
  {
    alert: 'TaskmeshOutboxStuck',
    series: {
      [`taskmesh_outbox_oldest_pending_age_seconds{${of('tasks')}}`]: { fires: growing(60), silent: constant(2) },
    },
  },
  {
    alert: 'TaskmeshOutboxUnknown',
    series: {
      [`up{${of('tasks')}}`]: { fires: constant(1), silent: constant(1) },
      [`taskmesh_outbox_oldest_pending_age_seconds{${of('tasks')}}`]: { fires: '_x120', silent: constant(0) },
    },
  },
  {
    alert: 'TaskmeshDeadLetters',
    series: { [`taskmesh_dead_letters{${of('tasks')},source="relay"}`]: { fires: constant(1), silent: constant(0) } },
  },
  {
    alert: 'TaskmeshGapFills',
    series: { [`taskmesh_realtime_gap_fills_total{${of('gateway')}}`]: { fires: growing(300), silent: growing(6) } },
  },
  {
    alert: 'TaskmeshClientsTooSlow',
    series: {
      [`taskmesh_realtime_connections_ended_total{${of('gateway')},reason="slow"}`]: {
        fires: growing(60),
        silent: growing(1),
      },
    },
  },
  {
    alert: 'TaskmeshSupergraphRefused',
    series: {
      [`taskmesh_gateway_supergraph_reloads_total{${of('gateway')},outcome="refused"}`]: {
        fires: growing(1),
        silent: constant(3),
      },
    },
  },
  {
    alert: 'TaskmeshLoginsWait',
    series: { [`taskmesh_auth_password_hash_waiting{${of('auth')}}`]: { fires: constant(50), silent: constant(5) } },
  },
  {
    alert: 'TaskmeshMailsFail',
    series: {
      [`taskmesh_auth_recovery_mails_total{${of('auth')},outcome="failed"}`]: {
        fires: growing(1),
        silent: constant(9),
      },
    },
  },
  ...[
    { alert: 'TaskmeshBackupOld', figure: 'last_success_timestamp_seconds' },
    { alert: 'TaskmeshBackupUnproved', figure: 'last_proved_timestamp_seconds' },
  ].flatMap(({ alert, figure }) => {
    const name = `taskmesh_backup_${figure}{${of('backup')}}`;
    return [
      { alert, time: DAYS, series: { [name]: { fires: '1x300', silent: '0+3600x300' } } },
      // None so far: of an installation that is twelve days old, and of one that is a day old.
      { alert, time: DAYS, series: { [name]: { fires: '0x300', silent: '_x263 0x37' } } },
      // Of a service whose clock is far ahead, alone, and beside one whose clock is right.
      { alert, time: DAYS, series: { [name]: { fires: '99999999x300', silent: '600+3600x300' } } },
      {
        alert,
        time: DAYS,
        series: {
          [name]: { fires: '1x300', silent: '0+3600x300' },
          [name.replace('pod="p"', 'pod="ahead"')]: { fires: '99999999x300', silent: '99999999x300' },
        },
      },
      {
        alert,
        time: DAYS,
        series: {
          [name]: { fires: '0x300', silent: '0+3600x300' },
          [name.replace('pod="p"', 'pod="ahead"')]: { fires: '99999999x300', silent: '99999999x300' },
        },
      },
    ];
  }),
  {
    alert: 'TaskmeshBackupFails',
    series: {
      [`taskmesh_backup_schedule_failures_total{${of('backup')},run="retention"}`]: {
        fires: growing(1),
        silent: constant(2),
      },
    },
  },
  ...VERIFICATIONS_GONE_WRONG.map((outcome) => ({
    alert: 'TaskmeshBackupFails',
    series: {
      [`taskmesh_backup_verifications_total{${of('backup')},outcome="${outcome}"}`]: {
        fires: growing(1),
        silent: constant(2),
      },
      [`taskmesh_backup_verifications_total{${of('backup')},outcome="ok"}`]: { fires: growing(1), silent: growing(1) },
    },
  })),
  {
    alert: 'TaskmeshRestoreUnsettled',
    series: { [`taskmesh_backup_restores_unsettled{${of('backup')}}`]: { fires: constant(1), silent: constant(0) } },
  },
  {
    alert: 'TaskmeshRestoreLeftovers',
    series: { [`taskmesh_backup_restore_leftovers{${of('backup')}}`]: { fires: constant(1), silent: constant(0) } },
  },
];
