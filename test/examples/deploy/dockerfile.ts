import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { cpSync, existsSync, lstatSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'

/** One instruction of a Dockerfile. */
interface Instruction {
  readonly name: string
  readonly text: string
}

/** What the steps of one stage have made: a root folder, which has only what they put into it, and the settings of the image. */
export interface Stage {
  readonly root: string
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly user: string | undefined
  /** Folders of this repository that are mounted below the folder of the stage. */
  readonly installed: readonly string[]
  readonly entrypoint: readonly string[]
  readonly healthcheck: readonly string[]
}

/** Folders of this machine that stand in for the base image: programs and their libraries. */
const BASE = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc', '/dev', '/proc']

/** Splits a Dockerfile into instructions, without comments. */
function instructions(dockerfile: string): Instruction[] {
  const lines = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
  return lines.flatMap(line => {
    const [, name, text] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
    return name === undefined || text === undefined ? [] : [{ name, text }]
  })
}

/**
 * Runs the steps of a Dockerfile in empty root folders below `roots`, and returns its last stage. `ignored` says which paths of the context are left out. A step that
 * fails throws with what it printed. `cache` is a folder that npm may use in each stage. The folders of
 * `installed` stand in for what its step installs, which is then not run.
 */
export function runSteps(
  dockerfile: string,
  {
    roots,
    cache,
    ignored,
    installed,
  }: {
    readonly roots: string
    readonly cache: string
    readonly ignored: (path: string) => boolean
    readonly installed?: { readonly step: string; readonly folders: readonly string[] } | undefined
  },
): Stage {
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const { name, text } of instructions(dockerfile)) {
    if (name === 'FROM') {
      const [, , as = 'last'] = /^(\S+)(?: AS (\w+))?$/.exec(text) ?? []
      stage = newStage(join(roots, as))
      stages.set(as, stage)
      continue
    }
    if (stage === undefined) throw new Error(`${name} before FROM`)
    stage =
      name === 'RUN' && text === installed?.step
        ? { ...stage, installed: installed.folders }
        : afterStep(stage, { name, text }, { stages, cache, ignored })
    for (const [as, { root }] of stages) if (root === stage.root) stages.set(as, stage)
  }
  if (stage === undefined) throw new Error('a Dockerfile without FROM')
  return stage
}

function newStage(root: string): Stage {
  mkdirSync(join(root, 'tmp'), { recursive: true })
  for (const folder of BASE.filter(existsSync)) {
    if (lstatSync(folder).isSymbolicLink()) symlinkSync(readlinkSync(folder), join(root, folder))
    else mkdirSync(join(root, folder))
  }
  return {
    root,
    folder: '/',
    env: {},
    user: undefined,
    installed: [],
    entrypoint: [],
    healthcheck: [],
  }
}

function afterStep(
  stage: Stage,
  { name, text }: Instruction,
  {
    stages,
    cache,
    ignored,
  }: {
    readonly stages: ReadonlyMap<string, Stage>
    readonly cache: string
    readonly ignored: (path: string) => boolean
  },
): Stage {
  const words = text.split(/\s+/)
  switch (name) {
    case 'WORKDIR':
      mkdirSync(join(stage.root, text), { recursive: true })
      return { ...stage, folder: text, installed: [] }
    case 'ENV':
      return { ...stage, env: { ...stage.env, ...Object.fromEntries(words.map(word => word.split('='))) } }
    case 'USER':
      return { ...stage, user: text }
    case 'COPY': {
      const [, from] = /^--from=(\w+)$/.exec(words[0] ?? '') ?? []
      const [source = '', target = ''] = from === undefined ? words : words.slice(1)
      const context = from === undefined ? '.' : (stages.get(from)?.root ?? '')
      cpSync(join(context, source), join(stage.root, stage.folder, target), {
        recursive: true,
        verbatimSymlinks: true,
        filter: path => from !== undefined || !ignored(relative('.', path).split(sep).join('/')),
      })
      return stage
    }
    case 'RUN': {
      const { status, stdout, stderr } = spawnSync(...inRoot(stage, ['sh', '-c', text], { cache }))
      if (status !== 0) throw new Error(`RUN ${text} ended with ${status}: ${stdout}${stderr}`)
      return stage
    }
    case 'HEALTHCHECK':
      return { ...stage, healthcheck: JSON.parse(text.replace(/^.*? CMD /, '')) as string[] }
    case 'ENTRYPOINT':
      return { ...stage, entrypoint: JSON.parse(text) as string[] }
    case 'EXPOSE':
    case 'STOPSIGNAL':
      return stage
    default:
      throw new Error(`the test does not know the instruction ${name}`)
  }
}

/** Starts a command of the image as its user, in a root folder that cannot be written to. */
export function startInRoot(
  stage: Stage,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const [program, args] = inRoot(stage, command, { env, readOnly: true })
  return spawn(program, args, { env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** How a command is started in a stage: mounts are made in a namespace of its own and end with it. */
function inRoot(
  { root, folder, env: own, user, installed }: Stage,
  command: readonly string[],
  {
    cache,
    env,
    readOnly = false,
  }: {
    readonly cache?: string
    readonly env?: Readonly<Record<string, string>>
    readonly readOnly?: boolean
  },
): [string, string[], { env: Record<string, string>; encoding: 'utf8'; maxBuffer: number }] {
  const prefix = dirname(dirname(process.execPath))
  const folders = [...BASE, ...(prefix === '/usr' ? [] : [prefix])].filter(
    each => existsSync(each) && !lstatSync(each).isSymbolicLink(),
  )
  const mounts = folders.map(each => `mkdir -p '${root}${each}' && mount --rbind '${each}' '${root}${each}'`)
  if (cache !== undefined) mounts.push(`mkdir -p '${root}/cache' && mount --bind '${cache}' '${root}/cache'`)
  for (const path of installed) {
    const at = join(root, folder, path)
    mounts.push(`mkdir -p '${at}' && mount --bind '${resolve(path)}' '${at}'`)
  }
  const isRoot = process.getuid?.() === 0
  const variables = {
    PATH: `${prefix}/bin:/usr/bin:/bin`,
    HOME: '/tmp',
    ...(cache === undefined ? {} : { npm_config_cache: '/cache' }),
    ...own,
    ...env,
  }
  const as =
    user !== undefined && isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []
  const script = [
    `mount --bind '${root}' '${root}'`,
    ...mounts,
    ...(readOnly ? [`mount -o remount,bind,ro '${root}'`] : []),
    `exec chroot '${root}' "$@"`,
  ].join(' && ')
  const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  const inside = ['env', '-i', '-C', folder, ...assignments]
  const args = [
    '--mount',
    ...(isRoot ? [] : ['--map-root-user']),
    'sh',
    '-c',
    script,
    basename('sh'),
    ...inside,
    ...as,
    ...command,
  ]
  return ['unshare', args, { env: { PATH: process.env['PATH'] ?? '' }, encoding: 'utf8', maxBuffer: 2 ** 26 }]
}

/** Reads patterns of a .dockerignore: a path, or a name at any depth after two asterisks. */
export function ignoredBy(dockerignore: string): (path: string) => boolean {
  const patterns = dockerignore.split('\n').filter(line => line !== '')
  return path =>
    patterns.some(pattern =>
      pattern.startsWith('**/')
        ? path.split('/').includes(pattern.slice(3))
        : path === pattern || path.startsWith(`${pattern}/`),
    )
}
