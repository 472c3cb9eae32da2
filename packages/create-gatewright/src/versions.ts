/** The versions of what a project installs: those that this repository tests with. */
const VERSIONS: Readonly<Record<string, string>> = {
  '@hono/node-server': '2.1.8',
  '@koa/router': '15.7.0',
  '@nestjs/common': '11.2.10',
  '@nestjs/core': '11.2.10',
  '@nestjs/platform-express': '11.2.10',
  '@types/express': '5.0.6',
  '@types/koa': '3.0.3',
  '@types/node': '20.19.43',
  '@types/pg': '8.23.1',
  '@types/react': '19.3.0',
  express: '5.3.0',
  fastify: '5.12.8',
  gatewright: '0.1.0',
  hono: '4.13.19',
  koa: '3.3.0',
  libsql: '0.5.29',
  next: '16.4.6',
  pg: '8.23.1',
  react: '19.3.1',
  'react-dom': '19.3.1',
  redis: '6.3.1',
  'reflect-metadata': '0.2.2',
  rxjs: '7.8.2',
  typescript: '7.0.2',
  zod: '4.6.7',
}

/** The dependencies of a `package.json` for these packages. */
export function dependencies(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.toSorted().map(name => {
      const version = VERSIONS[name]
      if (version === undefined) throw new Error(`no version of ${name} in versions.ts`)
      return [name, `^${version}`]
    }),
  )
}
