/**
 * The longest session that any issuer may allow, in seconds (24 h). The revocation feed keeps its entries for as long as
 * such a session can live, and signing keys stay published for it.
 */
export const MAX_SESSION_SECONDS = 86_400

/** The shortest session that can be requested, in seconds: a client renews a session some seconds before it ends. */
export const MIN_SESSION_SECONDS = 60

/** Maximum number of sessions above a session, and of keys above a key. Each level is read when a session is created. */
export const MAX_DEPTH = 8

/** Maximum length of a session's label, in UTF-16 code units: it is shown in one line. */
export const MAX_LABEL_LENGTH = 120

/** Maximum length of a key's label, in code points: lists and tables show it in one line. */
export const MAX_KEY_LABEL_LENGTH = 64

/** Longest token, in bytes. Guards deny a longer one by default, and servers limit the size of a header field (often 8 KiB). */
export const MAX_TOKEN_BYTES = 4096

/** Maximum number of policies in the chain of a key or session. A guard evaluates all of them for each request. */
export const MAX_POLICIES = 16

/** Largest policy, in bytes of its JSON in UTF-8. */
export const MAX_POLICY_BYTES = 8192

/** Largest chain of policies, in bytes of their JSON together. A guard loads whole chains, and a list of keys shows them. */
export const MAX_CHAIN_BYTES = 32_768

/** Maximum number of live consoles of one account: one for each device that its owner uses. A new one ends the oldest. */
export const MAX_CONSOLES = 5

/**
 * How long a root key must be unused before a new root may retire it, in ms. A use that the store has not recorded for half of
 * this time is written immediately.
 */
export const ROOT_KEY_IDLE_MS = 86_400_000

/** Longest overlap of a rotated key and its successor, in seconds (7 days): the time to deploy the successor everywhere. */
export const MAX_OVERLAP_SECONDS = 604_800

/** How long an ended key is kept, in ms (7 days), so that its owner sees that it ended. */
export const ENDED_KEY_RETENTION_MS = 604_800_000

/** Maximum number of ended keys of one account. Each change of an account loads all of its keys. */
export const MAX_ENDED_KEYS = 200

/** Maximum number of cached keys, about 10 MB. */
export const KEY_CACHE_SIZE = 10_000
/** The longest time for which a key that was read may be trusted, in ms. */
export const MAX_KEY_CACHE_MS = 1000

/** How long uses of keys are collected before they are written, in ms. */
export const LAST_USED_FLUSH_MS = 10_000

/**
 * How long verifiers may cache the JWKS document, in seconds. A new signing key is published for longer than this before it
 * signs; libraries that verify tokens rarely fetch more often.
 */
export const JWKS_MAX_AGE_SECONDS = 300

/** How long a process trusts the signing keys that it has loaded, in ms. */
export const SIGNING_KEY_REFRESH_MS = 5000

/** The largest difference between the clocks of the processes, in ms. With NTP it is a few ms. */
export const CLOCK_SKEW_MS = 5000

/** How long an audit row is kept by default, in days. */
export const AUDIT_RETENTION_DAYS = 90
