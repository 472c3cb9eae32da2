/** The data folder cannot be used. The message is shown to the operator. */
export class DataDirUnusable extends Error {}
