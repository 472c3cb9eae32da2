/** Shortest life of a session that can be asked for, in seconds. */
export const MIN_TTL_SECONDS = 60
/** Longest life of a session, in seconds (24 h). */
export const MAX_TTL_SECONDS = 86_400
/** Life of a session when none is asked for, in seconds (15 min). */
export const DEFAULT_TTL_SECONDS = 900
/** Longest token, in bytes. Requests whose token would be longer are refused. */
export const MAX_TOKEN_BYTES = 4096
/** Most policies in the chain of a key or session. */
export const MAX_POLICIES = 16
/** Most sessions or keys above one another. */
export const MAX_DEPTH = 8
/** Longest label of a session, in characters. */
export const MAX_LABEL_LENGTH = 120
/** Longest overlap of a key and its successor, in seconds (7 days). */
export const MAX_OVERLAP_SECONDS = 604_800
