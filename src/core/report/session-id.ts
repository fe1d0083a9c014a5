/** The id of one run of ctxwrap, which names its files and is in CTXWRAP_SESSION. */
export const SESSION_ID = /^[A-Za-z0-9_-]{1,64}$/;

export const isSessionId = (text: string): boolean => SESSION_ID.test(text);
