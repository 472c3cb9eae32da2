export { component, instant, nextCursor, text } from './schemas/fields.ts'
export { idText, nameText } from './schemas/names.ts'
