// What the conformance suite of the protocol expects of a server under test: its tools, resources and prompts, by the names of its scenarios.
import { randomBytes } from 'node:crypto'
import {
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
  McpServer,
  ResourceTemplate,
  type CallToolResult,
  type ElicitRequestFormParams,
  type InputRequests,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Mcp } from 'gatewright/mcp'
import { z } from 'zod'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='
const NONE = z.object({})

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] })

/** The tools that only return content: guarded. */
const CONTENTS: Readonly<Record<string, CallToolResult['content']>> = {
  test_simple_text: [{ type: 'text', text: 'This is a simple text response for testing.' }],
  test_image_content: [{ type: 'image', data: PNG, mimeType: 'image/png' }],
  test_audio_content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  test_embedded_resource: [
    {
      type: 'resource',
      resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'The text of a resource.' },
    },
  ],
  test_multiple_content_types: [
    { type: 'text', text: 'Multiple content types test:' },
    { type: 'image', data: PNG, mimeType: 'image/png' },
    {
      type: 'resource',
      resource: {
        uri: 'test://mixed-content-resource',
        mimeType: 'application/json',
        text: '{"test":"data","value":123}',
      },
    },
  ],
}

const codec = createRequestStateCodec<{ readonly step: number; readonly nonce: string }>({
  key: randomBytes(32),
})
const state = (step: number): Promise<string> => codec.mint({ step, nonce: randomBytes(8).toString('hex') })

const elicit = (message: string, name: string): InputRequests[string] =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] },
  })
const sample = (prompt: string): InputRequests[string] =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
    maxTokens: 50,
  })
const confirm = inputRequired.elicit({
  message: 'Please confirm',
  requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
})

/** A question by a form of the client. */
const FORMS = {
  test_elicitation_sep1034_defaults: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
  test_elicitation_sep1330_enums: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: {
      type: 'string',
      oneOf: [
        { const: 'value1', title: 'First Option' },
        { const: 'value2', title: 'Second Option' },
      ],
    },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: {
      type: 'array',
      items: {
        anyOf: [
          { const: 'value1', title: 'First Choice' },
          { const: 'value2', title: 'Second Choice' },
        ],
      },
    },
  },
} as const

type Tool = (context: ServerContext) => CallToolResult | ReturnType<typeof inputRequired> | Promise<unknown>

const nameOf = ({ mcpReq }: ServerContext): string | undefined =>
  acceptedContent(mcpReq.inputResponses, 'user_name', z.object({ name: z.string() }))?.name

/** Asks for inputs, with state if `step` is given, until all have come. */
async function asking(
  { mcpReq }: ServerContext,
  inputRequests: InputRequests,
  done: () => CallToolResult,
  step?: number,
): Promise<unknown> {
  const has = (key: string): boolean => mcpReq.inputResponses?.[key] !== undefined
  const current = mcpReq.requestState<{ step: number }>()
  if (Object.keys(inputRequests).every(has) && current?.step === step) return done()
  return inputRequired({ inputRequests, ...(step === undefined ? {} : { requestState: await state(step) }) })
}

/** The tools that speak with the client while they run: behind a session, and not guarded, because `guardTool` has none of these. */
const TALKING: Readonly<Record<string, Tool>> = {
  async test_tool_with_logging({ mcpReq }) {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed'])
      await mcpReq.log('info', data)
    return text('logged')
  },
  async test_tool_with_progress({ mcpReq }) {
    const progressToken = mcpReq['_meta']?.progressToken ?? 0
    for (const progress of [0, 50, 100])
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` },
      })
    return text(String(progressToken))
  },
  async test_streaming_elicitation({ mcpReq }) {
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken: mcpReq['_meta']?.progressToken ?? 0, progress: 50, total: 100 },
    })
    return text('streamed')
  },
  async test_logging_tool({ mcpReq }) {
    await mcpReq.log('info', 'a line')
    return text('logged')
  },
  test_missing_capability: () => inputRequired({ inputRequests: { sampled: sample('Say something') } }),
  test_input_required_result_elicitation(context) {
    const name = nameOf(context)
    return name === undefined
      ? inputRequired({ inputRequests: { user_name: elicit('What is your name?', 'name') } })
      : text(`Hello, ${name}!`)
  },
  test_input_required_result_sampling: context =>
    asking(context, { capital_question: sample('What is the capital of France?') }, () => text('sampled')),
  test_input_required_result_list_roots: context =>
    asking(context, { client_roots: inputRequired.listRoots() }, () => text('roots came')),
  test_input_required_result_request_state: context =>
    asking(context, { confirm }, () => text('state-ok'), 1),
  test_input_required_result_multiple_inputs: context =>
    asking(
      context,
      {
        user_name: elicit('What is your name?', 'name'),
        greeting: sample('Generate a greeting'),
        client_roots: inputRequired.listRoots(),
      },
      () => text('all came'),
      1,
    ),
  async test_input_required_result_multi_round(context) {
    const step1 = { step1: elicit('Step 1: What is your name?', 'name') }
    const { mcpReq } = context
    const current = mcpReq.requestState<{ step: number }>()
    const isSecond = current?.step === 2 || (current?.step === 1 && mcpReq.inputResponses?.['step1'])
    return isSecond
      ? asking(
          context,
          { step2: elicit('Step 2: What is your favorite color?', 'color') },
          () => text('done'),
          2,
        )
      : asking(context, step1, () => text('unreachable'), 1)
  },
  test_input_required_result_tampered_state: context =>
    asking(context, { confirm }, () => text('integrity-ok'), 1),
  async test_input_required_result_capabilities({ mcpReq }) {
    if (mcpReq.inputResponses) return text('capabilities-ok')
    const declared = (mcpReq.envelope as Readonly<Record<string, unknown>> | undefined)?.[
      'io.modelcontextprotocol/clientCapabilities'
    ] as { elicitation?: object; sampling?: object } | undefined
    return inputRequired({
      inputRequests: {
        ...(declared?.elicitation ? { elicit_input: elicit('Input', 'value') } : {}),
        ...(declared?.sampling ? { sample_input: sample('Sample request') } : {}),
      },
      requestState: await state(1),
    })
  },
}

/** Makes a server with all fixtures. */
export function fixtureServer({ guardTool }: Mcp): McpServer {
  const server = new McpServer(
    { name: 'conformance', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: false },
        prompts: { listChanged: false },
        resources: { listChanged: false, subscribe: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: codec.verify },
    },
  )
  const read = (name: string) =>
    ({ operation: `conformance.${name}`, scope: 'payments.read', read: true }) as const
  for (const [name, content] of Object.entries(CONTENTS))
    guardTool(server, name, read(name), { description: name, inputSchema: NONE }, () => ({ content }))
  guardTool(
    server,
    'test_error_handling',
    read('test_error_handling'),
    { description: 'Fails.', inputSchema: NONE },
    () => ({ ok: false, code: 'intended', status: 422, message: 'This tool intentionally returns an error' }),
  )
  for (const [name, run] of Object.entries(TALKING))
    server.registerTool(
      name,
      { description: name, inputSchema: NONE },
      async (_, context) => (await run(context)) as CallToolResult,
    )
  addAsking(server)
  addPrompts(server)
  addResources(server)
  return server
}

/** The tools of 2025-11-25 that ask the client on the stream of the call. */
function addAsking(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model of the client.', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const { content } = await mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
        maxTokens: 100,
      })
      return text(`LLM response: ${JSON.stringify(content)}`)
    },
  )
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the person.', inputSchema: z.object({ message: z.string() }) },
    async ({ message }, { mcpReq }) => {
      const properties = { username: { type: 'string' }, email: { type: 'string' } } as const
      const { action, content } = await mcpReq.elicitInput({
        message,
        requestedSchema: { type: 'object', properties, required: ['username', 'email'] },
      })
      return text(`User response: action=${action}, content=${JSON.stringify(content)}`)
    },
  )
  for (const [name, properties] of Object.entries(FORMS))
    server.registerTool(
      name,
      { description: 'Asks by a form.', inputSchema: NONE },
      async (_, { mcpReq }) => {
        const { action, content } = await mcpReq.elicitInput({
          message: 'Please fill in the form',
          requestedSchema: { type: 'object', properties } as ElicitRequestFormParams['requestedSchema'],
        })
        return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)
      },
    )
}

function addPrompts(server: McpServer): void {
  const user = (
    content: { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string },
  ) => ({ role: 'user', content }) as const
  const said = (words: string) => user({ type: 'text', text: words })
  server.registerPrompt('test_simple_prompt', { description: 'Simple' }, () => ({
    messages: [said('This is a simple prompt for testing.')],
  }))
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With arguments', argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => ({ messages: [said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content.' },
          },
        },
        said('Please process the embedded resource above.'),
      ],
    }),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'With an image' }, () => ({
    messages: [
      user({ type: 'image', data: PNG, mimeType: 'image/png' }),
      said('Please analyze the image above.'),
    ],
  }))
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Asks first' },
    ({ mcpReq }: ServerContext) => {
      const { context } =
        acceptedContent(mcpReq.inputResponses, 'user_context', z.object({ context: z.string() })) ?? {}
      return context === undefined
        ? inputRequired({ inputRequests: { user_context: elicit('What is the context?', 'context') } })
        : { messages: [said(`The context is ${context}`)] }
    },
  )
  server.server.setRequestHandler('completion/complete', () => ({
    completion: { values: [], total: 0, hasMore: false },
  }))
}

function addResources(server: McpServer): void {
  server.registerResource('static-text', 'test://static-text', { mimeType: 'text/plain' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'The text of the static resource.' }],
  }))
  server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
  }))
  server.registerResource(
    'watched-resource',
    'test://watched-resource',
    { mimeType: 'text/plain' },
    ({ href }) => ({ contents: [{ uri: href, mimeType: 'text/plain', text: 'Watched.' }] }),
  )
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { mimeType: 'application/json' },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  )
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
}
