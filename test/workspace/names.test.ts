import t from 'tap'
import { ambiguousNames } from './names.ts'

t.test('no two packages export one name for two things', t => {
  t.same(ambiguousNames(), [])
  t.end()
})
