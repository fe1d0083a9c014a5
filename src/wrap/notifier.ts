import type { NotificationRecord } from '../core/notification-record.js';
import { notificationSequence } from '../terminal/notification.js';
import { makeNotifyCommand } from './notify-command.js';
import { makeOutlet } from './outlet.js';
import type { Stage } from './stage.js';

/** Calls the user, by the terminal and by a command of theirs. */
export interface Notifier {
  readonly notify: (record: NotificationRecord) => void;
  readonly stop: () => void;
}

export const makeNotifier = (stage: Stage): Notifier => {
  const { env, cwd, log, notify } = stage.session;
  const outlet = makeOutlet(stage);
  const command =
    notify?.command === undefined
      ? undefined
      : makeNotifyCommand({
          command: notify.command,
          cwd,
          env,
          onFailure: (reason) => log.warn(`the command for notifications failed: ${reason}`),
        });
  return {
    notify: (record) => {
      const { kind, runtime, text, asks } = record;
      log.info(`notification ${kind}${asks === undefined ? `: ${text}` : ''}`); // a question may hold what was said
      const call = { title: `ctxwrap ${runtime}`, text };
      outlet.send(() => notificationSequence(env, call, stage.filter.grid.vt52));
      command?.run(record);
    },
    stop: () => {
      outlet.stop();
      command?.stop();
    },
  };
};
