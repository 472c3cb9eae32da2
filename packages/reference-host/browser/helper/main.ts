import { start } from './start.ts'

start()
// Another link of a command line in the same tab. Loading again asks first where a key would be lost.
addEventListener('hashchange', () => location.reload())
