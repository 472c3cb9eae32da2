// What `import t from 'tap'` gives a test file where several share a process. Loaded again for each of them.
import { ownTest } from './own-test.ts'

// oxlint-disable-next-line import/no-default-export -- it replaces tap, which has one.
export default ownTest()
