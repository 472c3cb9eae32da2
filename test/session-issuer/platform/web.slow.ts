import t from 'tap'
import { passOnTheWebPlatform } from '../../harness/web-platform.ts'

t.test('signs the same tokens where Web Crypto signs', async t => {
  await passOnTheWebPlatform(t, ['session-issuer/sessions/issue-session', 'session-issuer/signing/schedule'])
})
