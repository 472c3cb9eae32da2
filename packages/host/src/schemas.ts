export { compileSchema } from './schemas/check.ts'
export {
  Currency,
  PolicySchema,
  component,
  grantedScopes,
  ignoredScopes,
  instant,
  instantOrNull,
  nextCursor,
  text,
  textOrNull,
} from './schemas/fields.ts'
export { URL_FORMAT, idText, isName, nameText } from './schemas/names.ts'
