export const notificationKinds = ['auto', 'hard', 'failure', 'permission', 'spiral'] as const;

/** The window reached auto or hard, a compaction failed, the agent waits for an answer, or it compacts again and again without a turn of the user. */
export type NotificationKind = (typeof notificationKinds)[number];
