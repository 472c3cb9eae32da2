// What `import t from 'tap'` gives a test file where several share a process. Loaded anew for each of them.
import { ownTest } from './own-test.ts'

const t = ownTest()
export { t as default }
