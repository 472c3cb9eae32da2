// For `node --import`: our files get the newest Nest, which is in `test/tools`. Development dependencies have the oldest supported one.
import { register } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const tools = pathToFileURL(resolve('test/tools/load.js')).href
const hooks = `export async function resolve(specifier, context, next) {
  return next(specifier, specifier.startsWith('@nestjs/') && !context.parentURL.includes('/node_modules/') ? { ...context, parentURL: '${tools}' } : context)
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
