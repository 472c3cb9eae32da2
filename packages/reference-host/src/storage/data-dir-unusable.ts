/** The data folder cannot be used. The message is for the operator, as it is. */
export class DataDirUnusable extends Error {}
