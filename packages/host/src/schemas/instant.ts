/** The JSON Schema format of instants, which `parseInstant` of the kernel reads. */
export const INSTANT_FORMAT = 'date-time'

/** The pattern of a date, or of an instant. Whether the day exists is not part of it. */
export const DATE_OR_INSTANT =
  '^\\d{4}-\\d{2}-\\d{2}(?:[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:[Zz]|[+-]\\d{2}:\\d{2}))?$'

/** Whether a text of this pattern is a date, which stands for a whole day of UTC. */
export const isDate = (text: string): boolean => text.length === 10
