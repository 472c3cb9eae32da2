// The steps of examples/deploy/README.md, as far as they can be followed without docker, a cluster and root: they are shell, they run where
// the page says, and what they name is there.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parseAllDocuments } from 'yaml'

const FOLDER = 'examples/deploy'
const page = readFileSync(`${FOLDER}/README.md`, 'utf8')
const fences = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, code = '']) => code)
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
}
const manifests = ['config', 'host', 'migrate', 'network-policy'].map(name =>
  readFileSync(`${FOLDER}/kubernetes/${name}.yaml`, 'utf8'),
)
const objects = manifests
  .flatMap(text => parseAllDocuments(text).map(each => each.toJS() as Manifest))
  .map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`)

t.test('every step is shell, and none leaves the folder that the next one needs', t => {
  t.ok(fences.length >= 5)
  for (const code of fences) {
    const { status, stderr } = spawnSync('sh', ['-n'], { input: code, encoding: 'utf8' })
    t.equal(status, 0, stderr)
    t.notMatch(code, /(?:^|&& )cd /m, 'no step changes the folder')
  }
  t.end()
})

t.test('every file that a step reads is in the repository, or an earlier step has written it', t => {
  const written = new Set<string>()
  for (const line of fences.flatMap(code => code.split('\n'))) {
    const words = line.split(/[\s=]+/)
    const target = /> ?>? (\S+)$/.exec(line)?.[1]
    for (const path of words.filter(word => word.startsWith('examples/')))
      t.ok(path === target || written.has(path) || existsSync(path), path)
    if (target !== undefined) written.add(target)
  }
  for (const [, file = ''] of page.matchAll(/`(kubernetes\/[\w.-]+|[\w-]+\.(?:yaml|sh|cfg|service))`/g))
    t.ok(existsSync(`${FOLDER}/${file}`), file)
  t.end()
})

t.test('scripts, images, secrets and objects have the names that the files give them', t => {
  const steps = fences.join('\n')
  for (const [, script = ''] of steps.matchAll(/npm run (?:-s )?(\S+)/g)) t.ok(script in scripts, script)
  const images = new Set([...manifests.join('\n').matchAll(/image: (\S+)/g)].map(([, image = '']) => image))
  for (const image of images) {
    t.ok(steps.includes(`-t ${image} .`), `${image} is built`)
    t.ok(steps.includes(`docker push ${image}`), `${image} is pushed`)
  }
  for (const [, secret = ''] of manifests.join('\n').matchAll(/secret(?:Ref|KeyRef): \{ name: ([\w-]+)/g))
    t.ok(steps.includes(`secret generic ${secret} `), `secret ${secret}`)
  for (const [name] of steps.matchAll(/\b(?:job|deployment)\/[\w-]+/g)) t.ok(objects.includes(name), name)
  const unit = readFileSync(`${FOLDER}/gatewright.service`, 'utf8')
  for (const name of ['WorkingDirectory', 'EnvironmentFile', 'User']) {
    const value = new RegExp(`^${name}=(\\S+)$`, 'm').exec(unit)?.[1] ?? '?'
    t.ok(steps.includes(value), `${name} of the unit: ${value}`)
  }
  t.end()
})
