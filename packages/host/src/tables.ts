export {
  defaulted,
  digits,
  flag,
  instant,
  integer,
  json,
  named,
  nullable,
  nullableGroup,
  oneOf,
  position,
  text,
  words,
} from './records/columns.ts'
export type { Column, Group } from './records/columns.ts'
export { table } from './records/table.ts'
export type { PageOf, Row, Table } from './records/table.ts'
