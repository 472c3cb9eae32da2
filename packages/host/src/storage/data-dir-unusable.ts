/** The data folder cannot be used. The message is shown to the operator. */
export class DataDirUnusable extends Error {}

/** Another process has the data folder: a host, or a command. */
export class DataDirInUse extends DataDirUnusable {}
