import { chmodSync, cpSync, existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { debianProgram, postgresBinaries } from '../harness/binaries.ts'

/** The programs of a cluster: Patroni, etcd, HAProxy and PgBouncer, from Debian's packages or from a copy of them. */
export interface ClusterPrograms {
  /** The folder that has Debian's `usr`. */
  readonly root: string
  readonly python: string
  readonly patroni: string
  readonly etcd: string
  readonly haproxy: string
  readonly pgbouncer: string
  /** The folder of the programs of Postgres. */
  readonly postgres: string
  readonly env: Readonly<Record<string, string>>
}

const PACKAGES = ['patroni', 'etcd-server', 'haproxy', 'pgbouncer']

/**
 * Copies the programs below a folder that any user may read: Postgres refuses to run as root, and the cache of root may be closed to others. The
 * first run unpacks Debian's packages into the cache. Throws where the machine has no Debian package tools.
 */
export function clusterPrograms(folder: string): ClusterPrograms {
  const unpacked = debianProgram('cluster', 'patroni', PACKAGES)
  if (unpacked === undefined)
    throw new Error(
      `the ops suite needs Debian's packages ${PACKAGES.join(', ')}, and apt-get to unpack them`,
    )
  const usr = join(folder, 'usr')
  cpSync(unpacked.root, usr, { recursive: true, verbatimSymlinks: true })
  chmodSync(folder, 0o755)
  const python = join(usr, 'bin/python3')
  const libraries = unpacked.env['LD_LIBRARY_PATH']?.replace(unpacked.root, usr) ?? ''
  return {
    root: usr,
    // Debian's own: its package of psycopg2 is compiled for that version.
    python: existsSync(python) ? python : '/usr/bin/python3',
    patroni: join(usr, 'bin/patroni'),
    etcd: join(usr, 'bin/etcd'),
    haproxy: join(usr, 'sbin/haproxy'),
    pgbouncer: join(usr, 'sbin/pgbouncer'),
    postgres: postgresFolder(),
    env: {
      PATH: process.env['PATH'] ?? '',
      LC_ALL: 'C',
      LD_LIBRARY_PATH: libraries,
      PYTHONPATH: join(usr, 'lib/python3/dist-packages'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
  }
}

/** Patroni needs all programs of Postgres in one folder. Where PATH has links to some only, the others are beside their targets. */
function postgresFolder(): string {
  const { directory } = postgresBinaries()
  return existsSync(join(directory, 'pg_rewind'))
    ? directory
    : dirname(realpathSync(join(directory, 'postgres')))
}
