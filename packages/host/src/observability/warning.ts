/** A condition that an operator should look at although nothing failed. Logged as a warning. */
export class OperatorWarning extends Error {}
