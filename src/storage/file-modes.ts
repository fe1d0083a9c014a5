// What ctxwrap writes is for its user alone.

export const FILE_MODE = 0o600;
export const FOLDER_MODE = 0o700;
/** Any of these means that other users may read, write or enter. */
export const OTHERS = 0o077;
