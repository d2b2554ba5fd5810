/** A row of the table: a part of the code with a name, a purpose and a list of what it may import. */
export interface Room {
  /** Its folder or file from the root of the repository. A name that is no path needs `paths`. */
  name: string
  /** Folders and files that make the room, when they are not the name itself. */
  paths?: readonly string[]
  /** Its contents, in one line. */
  holds: string
  /**
   * The parts that it may import beside itself:
   * - the name of a room that stands before it, `src/base`
   * - one file or folder of such a room, `src/runtime/serve.ts`
   * - `src/*`, every room of `src` that stands before it; `*`, every room that stands before it
   * - `!src/runtime`, a room that is taken out again
   */
  imports: readonly string[]
  /** True for a room that may import `node:` modules, or the folders of it that may. By default none may. */
  node?: true | readonly string[]
  /** Files that start a process: they may import every room and `node:` modules. */
  entries?: readonly string[]
}

/**
 * Every room, in the order of their dependencies: a room imports only earlier ones. A folder that has other rooms
 * inside, as `pipeline` does, keeps only the files directly in it.
 *
 * `npm run structure -- --write` carries a change of this table into `AGENTS.md`.
 */
export const ROOMS: readonly Room[] = [
  { name: 'config', holds: 'shipped values, schema, loading, boot errors', imports: [] },
  {
    name: 'src/base',
    holds: 'what all share: http, log, errors, JSON, text, masking, request signing, the words of the domain',
    imports: ['config'],
  },
  {
    name: 'src/hcl',
    holds:
      "the one reader of the engine's language, in both syntaxes: tokens, blocks and values with their places; the form of addresses",
    imports: [],
  },
  { name: 'src/aws', holds: 'credentials of AWS from the usual places', imports: ['config', 'src/base'] },
  { name: 'src/data', holds: 'database, cache, queue, storage', imports: ['config', 'src/base', 'src/aws'] },
  {
    name: 'src/llm',
    holds: 'calls of a model: client, router, wire forms, prices',
    imports: ['config', 'src/base', 'src/aws'],
  },
  {
    name: 'src/budget',
    holds: 'what models may cost: the spend of rounds, users and days, and its limits',
    imports: ['config', 'src/base', 'src/data', 'src/llm'],
  },
  { name: 'src/services', holds: 'clients of the sidecars, and the verbs on them', imports: ['config', 'src/base'] },
  { name: 'src/repository', holds: 'git addresses, root modules', imports: ['config', 'src/base', 'src/hcl'] },
  { name: 'src/prompts', holds: 'registry, shipped texts and fence of the prompts', imports: ['src/base'] },
  {
    name: 'src/plan',
    holds:
      'plan JSON and the plan as data, the code and its changes block by block, state, provider schema, diagnostics, imports',
    imports: ['config', 'src/base', 'src/hcl', 'src/data', 'src/services'],
  },
  {
    name: 'src/observe',
    holds: 'traces and metrics',
    imports: ['config', 'src/base', 'src/data', 'src/llm', 'src/budget', 'src/plan'],
  },
  {
    name: 'src/rules',
    holds:
      'checks of a plan by code: compliance rules, a folder for each cloud, most of them lines of a table; `policies/`, who a policy lets do what; `intent/`, the conditions that a request sets',
    imports: ['config', 'src/base', 'src/plan'],
  },
  {
    name: 'src/context.ts',
    holds: 'the clients of a process, in one value',
    imports: ['config', 'src/*', '!src/plan', '!src/rules'],
  },
  {
    name: 'src/access',
    holds: 'access control: tokens, roles, users; `audit/`, the record of who did what',
    imports: ['config', 'src/base', 'src/data', 'src/services', 'src/context.ts'],
  },
  {
    name: 'src/saved-plans',
    holds:
      'the reviewed plan of a session for a later apply: record, encrypted copy, comparison with the present; the kept ' +
      'plan of the code before the session',
    imports: ['src/base', 'src/data', 'src/services', 'src/repository', 'src/plan', 'src/context.ts'],
  },
  {
    name: 'src/rounds',
    holds: 'the life of a round: accept, claim, status, cancel, finish; its attempts, applies, previews and imports',
    imports: ['config', 'src/base', 'src/data', 'src/plan', 'src/context.ts', 'src/saved-plans', 'src/access/audit'],
  },
  {
    name: 'src/events',
    holds: 'status, activity and engine output of rounds: writing, reading, streams',
    imports: ['src/base', 'src/data', 'src/budget', 'src/context.ts', 'src/rounds'],
  },
  {
    name: 'src/sessions',
    holds: 'finding, lists, details and pull requests of sessions; which old ones may be removed',
    imports: [
      ...['config', 'src/base', 'src/data', 'src/services', 'src/repository', 'src/plan', 'src/context.ts'],
      ...['src/budget', 'src/saved-plans', 'src/access/audit', 'src/rounds'],
    ],
  },
  {
    name: 'src/notifications',
    holds: 'choice of recipients and sending of notifications',
    imports: ['src/base', 'src/data', 'src/services', 'src/context.ts', 'src/access', 'src/rounds', 'src/sessions'],
  },
  {
    name: 'src/reports',
    holds: 'composition of the report of each mode by code; artifacts; what the last review has left',
    imports: ['src/base', 'src/data', 'src/plan', 'src/rules', 'src/context.ts', 'src/rounds', 'src/sessions'],
  },
  {
    name: 'src/agent',
    holds: 'the loop between a model and its tools; shortening of messages to the context window',
    imports: ['config', 'src/base', 'src/llm', 'src/observe'],
  },
  {
    name: 'src/chains',
    holds: 'one file a chain: role, prompt layout, query, tools, result and what it means',
    imports: ['src/*', '!src/data', '!src/access', '!src/notifications'],
  },
  {
    name: 'src/pull-requests',
    holds: 'hosts of pull requests; what stands in the way of a merge; text and evidence of a pull request',
    imports: ['config', 'src/*', '!src/access', '!src/notifications', 'src/access/audit'],
  },
  {
    name: 'src/runtime',
    holds: 'what needs a runtime: disk, name look-up, servers, building a context',
    imports: ['config', 'src/*'],
    node: true,
  },
  {
    name: 'routes',
    holds: 'one endpoint a file, folders as in the URL; `app.ts` is the table of contents; `main.ts` starts the core',
    imports: ['src/*', '!src/llm', '!src/agent', '!src/chains', '!src/runtime'],
    entries: ['routes/main.ts', 'routes/start.ts'],
  },
  {
    name: 'pipeline/workspace',
    holds: 'git and disk of a run; what is kept of repositories between runs',
    imports: [
      ...['config', 'src/base', 'src/repository', 'src/plan', 'src/rounds', 'src/sessions', 'src/agent'],
      ...['src/runtime/fetch.ts', 'src/runtime/files.ts', 'src/runtime/run-process.ts'],
    ],
    node: true,
  },
  {
    name: 'pipeline',
    paths: ['pipeline', 'pipeline/modes', 'pipeline/steps', 'pipeline/tools', 'pipeline/kit'],
    holds:
      'the worker: claims rounds and runs them, and removes what is old; one file a mode, its steps, the tools offered to a model, and what steps share; `main.ts` starts it',
    imports: ['config', 'src/*', '!src/access', '!src/runtime', 'src/access/audit', 'pipeline/workspace'],
    entries: ['pipeline/main.ts', 'pipeline/start.ts'],
  },
  {
    name: 'sidecars',
    paths: ['sidecars', 'sidecars/shared', 'sidecars/authz', 'sidecars/mapping', 'sidecars/notifications'],
    holds: 'the small sidecars, the frame that all four share, and `main.ts`, which starts one by its name',
    imports: [
      'config/variable-files.ts',
      'src/base/http.ts',
      'src/base/json.ts',
      'src/base/limited-json.ts',
      'src/base/log.ts',
      'src/runtime/files.ts',
      'src/runtime/process-identity.ts',
      'src/runtime/serve.ts',
      'src/runtime/process-end.ts',
    ],
    node: ['sidecars/authz', 'sidecars/mapping'],
    entries: ['sidecars/main.ts'],
  },
  {
    name: 'sidecars/iac',
    holds: 'runs the engine, keeps state and plans, lists what a cloud has',
    imports: [
      'config/document.ts',
      'config/mask-url.ts',
      'config/sections/aws.ts',
      'src/aws',
      'src/base/http.ts',
      'src/base/json.ts',
      'src/base/log.ts',
      'src/base/matcher.ts',
      'src/base/protobuf.ts',
      'src/base/text.ts',
      'src/base/time.ts',
      'src/hcl',
      'src/runtime/fetch.ts',
      'src/runtime/files.ts',
      'src/runtime/process-identity.ts',
      'src/runtime/run-process.ts',
      'sidecars',
    ],
    node: true,
  },
  {
    name: 'contracts',
    holds: "the sidecars' contracts; `conformance/` proves an implementation over HTTP",
    imports: ['src/base'],
    node: true,
  },
  {
    name: 'console/client',
    holds: 'the state behind the screens: calls and streams of the API, signing in, what is read of sessions, settings',
    imports: ['src/base/json.ts', 'routes'],
  },
  {
    name: 'console/ui',
    holds: 'parts of pages: buttons, dialogs, lists, code, plans, rounds; the frame around screens; graph layout',
    imports: ['console/client'],
  },
  {
    name: 'console/screens',
    holds: 'one folder a screen',
    imports: ['src/hcl', 'src/reports/schemas.ts', 'console/client', 'console/ui'],
  },
  {
    name: 'console',
    paths: ['console', 'console/build'],
    holds: 'the browser application: its entry, `routes.tsx` as table of contents, and `build/`',
    imports: ['console/*', 'src/runtime/console-files.ts'],
    node: ['console/build'],
  },
  {
    name: 'dev',
    paths: ['dev', 'eval'],
    holds: 'what developers run: the embedded stack, the demo and checks of the code; `eval/` measures models',
    imports: ['*'],
    node: true,
  },
  {
    name: 'test',
    paths: ['test', 'bench'],
    holds: 'mirrors the code; `suites/` holds what mirrors no file; `bench/` measures the code against a bare baseline',
    imports: ['*'],
    node: true,
  },
]
