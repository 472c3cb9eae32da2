export { component, instant, nextCursor, text } from './schemas/fields.ts'
export { idText, nameText } from './schemas/names.ts'
export { Currency, instantOrNull, textOrNull } from './schemas/fields.ts'
export { pageParameters } from './http/operations/paging.ts'
