/**
 * Lines that a process of several test files writes on stderr, with the file that begins or has ended after it: they divide what was
 * written there by files.
 */
export const FILE_BEGINS = '# file begins '
export const FILE_ENDED = '# file ended '
