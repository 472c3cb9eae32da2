import type { Starter } from './starter.ts'

/** The starter of Nest, with a payment: a controller, a service, a unit test and an end-to-end test, by jest 29 and ts-jest. */
const JEST = {
  moduleFileExtensions: ['js', 'json', 'ts'],
  rootDir: '.',
  testRegex: String.raw`.*\.(spec|e2e-spec)\.ts$`,
  transform: { [String.raw`^.+\.(t|j)s$`]: 'ts-jest' },
  testEnvironment: 'node',
}
const TSCONFIG = {
  compilerOptions: {
    module: 'nodenext',
    moduleResolution: 'nodenext',
    resolvePackageJsonExports: true,
    esModuleInterop: true,
    isolatedModules: true,
    emitDecoratorMetadata: true,
    experimentalDecorators: true,
    target: 'es2022',
    strictNullChecks: true,
    skipLibCheck: true,
  },
}

const SERVICE = `import { Injectable } from '@nestjs/common'

@Injectable()
export class AppService {
  readonly paid: number[] = []
  getHello(): string {
    return 'Hello World!'
  }
  pay(amountCents: number): { id: string } {
    return { id: 'pay_' + this.paid.push(amountCents) }
  }
}
`
const CONTROLLER = `import { Body, Controller, Get, Post } from '@nestjs/common'
import { AppService } from './app.service'

@Controller()
export class AppController {
  constructor(private readonly appService: AppService) {}

  @Get()
  getHello(): string {
    return this.appService.getHello()
  }

  @Post('payments')
  pay(@Body() body: { amountCents: number }): { id: string } {
    return this.appService.pay(body.amountCents)
  }
}
`
const MODULE = `import { Module } from '@nestjs/common'
import { AppController } from './app.controller'
import { AppService } from './app.service'

@Module({
  imports: [],
  controllers: [AppController],
  providers: [AppService],
})
export class AppModule {}
`
const MAIN = `import { NestFactory } from '@nestjs/core'
import { AppModule } from './app.module'

async function bootstrap() {
  const app = await NestFactory.create(AppModule)
  await app.listen(process.env.PORT ?? 3000)
}
void bootstrap()
`
const UNIT_TEST = `import { Test } from '@nestjs/testing'
import { AppController } from './app.controller'
import { AppService } from './app.service'

describe('AppController', () => {
  let controller: AppController
  beforeEach(async () => {
    const app = await Test.createTestingModule({ controllers: [AppController], providers: [AppService] }).compile()
    controller = app.get(AppController)
  })
  it('returns "Hello World!"', () => {
    expect(controller.getHello()).toBe('Hello World!')
  })
  it('pays', () => {
    expect(controller.pay({ amountCents: 100 })).toEqual({ id: 'pay_1' })
  })
})
`
const E2E_TEST = `import type { INestApplication } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import { AppModule } from './../src/app.module'

describe('AppModule', () => {
  let app: INestApplication
  let url: string
  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile()
    app = module.createNestApplication()
    await app.listen(0, '127.0.0.1')
    url = await app.getUrl()
  })
  afterAll(() => app.close())
  it('/ (GET)', async () => {
    const response = await fetch(url)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('Hello World!')
  })
})
`
const MONEY_TEST = `import type { INestApplication } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import { GATEWRIGHT } from './../src/app.module'
import { AppModule } from './../src/app.module'
import { AppService } from './../src/app.service'
import { testGateway, testSession } from 'gatewright/testing'

describe('payments', () => {
  const kit = testGateway(GATEWRIGHT)
  let app: INestApplication
  let url: string
  beforeAll(async () => {
    Object.assign(GATEWRIGHT, kit.options)
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile()
    app = module.createNestApplication()
    await app.listen(0, '127.0.0.1')
    url = await app.getUrl()
  })
  afterAll(() => app.close())
  async function pay(accountId: string, key: string, amountCents: number) {
    const token = await kit.token(testSession({ accountId, scopes: ['payments.write'] }))
    const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', 'idempotency-key': key }
    return fetch(url + '/payments', { method: 'POST', headers, body: JSON.stringify({ amountCents }) })
  }
  it('pays 50 duplicates once', async () => {
    const statuses: number[] = []
    for (let n = 0; n < 5; n++)
      statuses.push(...(await Promise.all(Array.from({ length: 10 }, () => pay('ann', 'the-same-key', 100)))).map(({ status }) => status))
    expect(app.get(AppService).paid).toEqual([100])
    expect(statuses.filter(status => status !== 201 && status !== 409)).toEqual([])
  })
  it('lets a cap of 100 USD pass exactly', async () => {
    const statuses = await Promise.all(Array.from({ length: 30 }, async (_, n) => (await pay('bob', 'a-key-number-' + n, 500)).status))
    expect(statuses.filter(status => status === 201)).toHaveLength(20)
    expect(statuses.filter(status => status === 403)).toHaveLength(10)
    expect(app.get(AppService).paid).toHaveLength(21)
  })
  it('refuses a payment without a token', async () => {
    expect((await fetch(url + '/payments', { method: 'POST' })).status).toBe(401)
  })
})
`

export const NEST: Starter = {
  name: 'Nest starter: jest 29, ts-jest',
  files: {
    'package.json': JSON.stringify({ name: 'nest-starter', private: true, jest: JEST }, null, 2),
    'tsconfig.json': JSON.stringify(TSCONFIG, null, 2),
    'src/app.service.ts': SERVICE,
    'src/app.controller.ts': CONTROLLER,
    'src/app.module.ts': MODULE,
    'src/main.ts': MAIN,
    'src/app.controller.spec.ts': UNIT_TEST,
    'test/app.e2e-spec.ts': E2E_TEST,
  },
  patched: {
    'src/app.module.ts': MODULE.replace(
      "from './app.service'\n",
      "from './app.service'\nimport { memoryStore } from 'gatewright/memory'\nimport { GatewrightModule } from 'gatewright/nest'\n",
    )
      .replace(
        '@Module(',
        `export const GATEWRIGHT = {
  issuer: 'https://auth.example',
  audience: 'https://api.example',
  policy: { dailySpendCapCents: 10_000 },
  store: memoryStore(),
}

@Module(`,
      )
      .replace('imports: []', 'imports: [GatewrightModule.forRootAsync({ useFactory: () => GATEWRIGHT })]'),
    'src/app.controller.ts': CONTROLLER.replace(
      "from './app.service'\n",
      "from './app.service'\nimport { Write } from 'gatewright/nest'\n",
    ).replace(
      "  @Post('payments')\n",
      `  @Post('payments')
  @Write<{ amountCents: number }>('payments.create', {
    scope: 'payments.write',
    spends: ({ amountCents }) => ({ amountCents, currency: 'USD' }),
  })
`,
    ),
  },
  money: { 'test/money.e2e-spec.ts': MONEY_TEST },
  tests: ['node_modules/jest/bin/jest.js', '--ci', '--runInBand'],
  others: {},
}
