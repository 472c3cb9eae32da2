import type { Starter } from './starter.ts'

/** An example of Koa in CommonJS: a blog with koa-body and a router, whose readers may tip the author. Tests by `node --test`. */
const APP = `const Koa = require('koa')
const Router = require('@koa/router')
const { koaBody } = require('koa-body')

const app = (module.exports = new Koa())
const router = new Router()
const posts = []
app.posts = posts
app.tips = []

app.use(async (ctx, next) => {
  const startedAt = Date.now()
  await next()
  ctx.set('x-response-time', Date.now() - startedAt + 'ms')
})
app.use(koaBody())

const page = (title, body) => '<title>' + title + '</title>' + body
const escaped = text => String(text).replace(/[<&]/g, each => (each === '<' ? '&lt;' : '&amp;'))

router
  .get('/', async ctx => {
    ctx.body = page('Posts', '<p>You have <strong>' + posts.length + '</strong> posts!</p>')
  })
  .get('/post/new', async ctx => {
    ctx.body = page('New post', '<form action="/post" method="post"><input name="title"><textarea name="body"></textarea></form>')
  })
  .get('/post/:id', async ctx => {
    const post = posts[ctx.params.id]
    if (!post) ctx.throw(404, 'invalid post id')
    ctx.body = page(escaped(post.title), '<h1>' + escaped(post.title) + '</h1><p>' + escaped(post.body) + '</p>')
  })
  .post('/post', async ctx => {
    posts.push({ ...ctx.request.body, createdAt: new Date() })
    ctx.redirect('/')
  })
  .post('/tips', async ctx => {
    app.tips.push(ctx.request.body.amountCents)
    ctx.status = 201
    ctx.body = { id: 'tip_' + app.tips.length }
  })

app.use(router.routes())
if (require.main === module) app.listen(3000)
`
const OWN_TEST = `const { after, before, test } = require('node:test')
const assert = require('node:assert/strict')
const app = require('./app')

const server = app.listen(0, '127.0.0.1')
let url
before(async () => {
  if (!server.listening) await new Promise(resolve => server.once('listening', resolve))
  url = 'http://127.0.0.1:' + server.address().port
})
after(() => server.close())
const text = async path => (await fetch(url + path)).text()

test('lists no posts', async () => {
  assert.match(await text('/'), /<title>Posts<.title>.*<strong>0<.strong> posts/)
})
test('creates a post from a form and shows it', async () => {
  const body = new URLSearchParams({ title: 'Title', body: 'Contents' })
  const response = await fetch(url + '/post', { method: 'POST', body, redirect: 'manual' })
  assert.equal(response.status, 302)
  assert.equal(response.headers.get('location'), '/')
  assert.match(await text('/post/0'), /<h1>Title<.h1><p>Contents/)
  assert.match(await text('/'), /<strong>1</)
})
test('does not know other posts', async () => {
  assert.equal((await fetch(url + '/post/7')).status, 404)
  assert.match(await text('/post/new'), /<form/)
})
`
const OPTIONS = `const { memoryStore } = require('gatewright/koa')

module.exports = {
  issuer: 'https://auth.example',
  audience: 'https://api.example',
  policy: { dailySpendCapCents: 10_000 },
  body: 'parsed',
  store: memoryStore(),
}
`
const MONEY_TEST = `const { after, before, test } = require('node:test')
const assert = require('node:assert/strict')
const { testGateway, testSession } = require('gatewright/testing')
const options = require('./options')

const kit = testGateway(options)
Object.assign(options, kit.options)
const app = require('./app')
const server = app.listen(0, '127.0.0.1')
let url
before(async () => {
  if (!server.listening) await new Promise(resolve => server.once('listening', resolve))
  url = 'http://127.0.0.1:' + server.address().port
})
after(() => server.close())

async function pay(accountId, key, amountCents) {
  const token = await kit.token(testSession({ accountId, scopes: ['tips.write'] }))
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', 'idempotency-key': key }
  return fetch(url + '/tips', { method: 'POST', headers, body: JSON.stringify({ amountCents }) })
}
test('pays 50 duplicates once', async () => {
  const statuses = []
  for (let n = 0; n < 5; n++)
    statuses.push(...(await Promise.all(Array.from({ length: 10 }, () => pay('ann', 'the-same-key', 100)))).map(({ status }) => status))
  assert.deepEqual(app.tips, [100])
  assert.deepEqual(statuses.filter(status => status !== 201 && status !== 409), [])
})
test('lets a cap of 100 USD pass exactly', async () => {
  const statuses = await Promise.all(Array.from({ length: 30 }, async (_, n) => (await pay('bob', 'a-key-number-' + n, 500)).status))
  assert.equal(statuses.filter(status => status === 201).length, 20)
  assert.equal(statuses.filter(status => status === 403).length, 10)
  assert.equal(app.tips.length, 21)
})
test('refuses a tip without a token', async () => {
  assert.equal((await fetch(url + '/tips', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).status, 401)
})
`
export const KOA: Starter = {
  name: 'Koa example: koa-body, router, CommonJS',
  files: {
    'package.json': JSON.stringify({ name: 'koa-example', private: true }, null, 2),
    'app.js': APP,
    'app.test.js': OWN_TEST,
  },
  patched: {
    'options.js': OPTIONS,
    'app.js': APP.replace(
      "require('koa-body')\n",
      "require('koa-body')\nconst { gatewright } = require('gatewright/koa')\n\nconst gw = gatewright(require('./options'))\nconst spends = ({ amountCents }) => ({ amountCents, currency: 'USD' })\n",
    ).replace(
      ".post('/tips', async",
      ".post('/tips', gw.protectWrite('tips.create', { scope: 'tips.write', spends }), async",
    ),
  },
  money: { 'money.test.js': MONEY_TEST },
  tests: ['--test'],
  others: {},
}
