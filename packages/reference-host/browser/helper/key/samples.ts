/** A program that uses a new key, in one language. */
export interface Sample {
  readonly name: string
  readonly text: string
}

/** What a sample reads, by the scope that it needs: the first one that the key has. */
const READS: readonly (readonly [scope: string, path: string])[] = [
  ['balances.read', '/user/v1/balances'],
  ['transactions.read', '/user/v1/transactions?limit=5'],
  ['cards.read', '/user/v1/cards'],
  ['identity.read', '/user/v1/identity'],
]

/**
 * Writes programs that run as they are, with nothing to install: each starts a session and reads something that the key may read.
 * They contain the key.
 */
export function samplesOf(origin: string, key: string, scopes: readonly string[]): Sample[] {
  const [, path] = READS.find(([scope]) => scopes.includes(scope)) ?? []
  return [
    { name: 'curl', text: curlSample(origin, key, path) },
    { name: 'TypeScript', text: typeScriptSample(origin, key, path) },
    { name: 'Python', text: pythonSample(origin, key, path) },
  ]
}

function curlSample(origin: string, key: string, path: string | undefined): string {
  const exported = `export GATEWRIGHT_KEY='${key}'`
  const start = [
    `curl -sS ${origin}/user/v1/sessions \\`,
    '  -H "X-User-Key: $GATEWRIGHT_KEY" \\',
    "  -H 'Content-Type: application/json' -d '{}'",
  ].join('\n')
  if (path === undefined) return [exported, start].join('\n')
  return [
    exported,
    `SESSION=$(${start} |`,
    String.raw`  sed -n 's/.*"sessionToken":"\([^"]*\)".*/\1/p')`,
    `curl -sS '${origin}${path}' \\`,
    '  -H "Authorization: Bearer $SESSION"',
  ].join('\n')
}

function typeScriptSample(origin: string, key: string, path: string | undefined): string {
  const read = path && [
    `const response = await fetch('${origin}${path}', {`,
    '  headers: { authorization: `Bearer ${data.sessionToken}` },',
    '})',
    'console.log(await response.text())',
  ]
  return [
    '// Save as first.mts and run: node first.mts (Node 22.18 or newer), or npx tsx first.mts',
    `const key = '${key}'`,
    `const started = await fetch('${origin}/user/v1/sessions', {`,
    "  method: 'POST',",
    "  headers: { 'x-user-key': key, 'content-type': 'application/json' },",
    "  body: '{}',",
    '})',
    'const { data } = await started.json()',
    ...(read ?? ['console.log(data)']),
  ].join('\n')
}

function pythonSample(origin: string, key: string, path: string | undefined): string {
  const read = path && [
    `request = urllib.request.Request("${origin}${path}")`,
    'request.add_header("Authorization", "Bearer " + session["sessionToken"])',
    'print(json.load(urllib.request.urlopen(request)))',
  ]
  return [
    'import json, urllib.request',
    '',
    `key = "${key}"`,
    `start = urllib.request.Request("${origin}/user/v1/sessions", b"{}")`,
    'start.add_header("X-User-Key", key)',
    'start.add_header("Content-Type", "application/json")',
    'session = json.load(urllib.request.urlopen(start))["data"]',
    ...(read ?? ['print(session)']),
  ].join('\n')
}

/** Writes the request that makes a key with these rights. It needs a session of a key that may make keys. */
export function createKeyCurl(origin: string, body: object): string {
  // A quote within the quotes of a shell.
  const json = JSON.stringify(body).replaceAll("'", String.raw`'\''`)
  return [
    `curl -sS ${origin}/user/v1/keys \\`,
    '  -H "Authorization: Bearer $SESSION" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '${json}'`,
  ].join('\n')
}
