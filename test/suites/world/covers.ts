/**
 * The files of a part: when one of them has changed since the part last passed, it runs again in continuous
 * integration. A name is a file or a folder, or `npm:` and a package whose pinned version counts. Listed is what the
 * counterpart meets: what calls it, what reads its answers, and the checks. What lies behind that is held by the
 * ordinary tests.
 */
export const COVERS: Readonly<Record<string, readonly string[]>> = {
  opentofu: [
    ...['config', 'sidecars/iac', 'sidecars/shared', 'src/plan', 'src/services', 'src/reports', 'pipeline'],
    ...['src/hcl', 'dev/engine', 'test/suites/world/opentofu'],
  ],
  aws: [
    ...['config/sections/aws.ts', 'src/aws', 'src/data/storage', 'src/plan', 'src/rules', 'pipeline/steps'],
    ...['sidecars/iac/inventory', 'test/suites/world/aws'],
  ],
  'iac-eval': ['eval', 'src/rules', 'src/plan', 'dev/scripted-model', 'test/suites/world/iac-eval'],
  providers: [
    ...['sidecars/iac', 'src/plan', 'src/rules', 'eval', 'dev/demo', 'test/suites/world/providers'],
    'dev/engine',
  ],
  checkov: ['src/rules', 'docs/rules-catalogue.yaml', 'test/suites/world/checkov'],
  schemas: [
    ...['src/prompts', 'src/plan', 'src/hcl', 'sidecars/iac/schema', 'dev/prompt-lint'],
    'test/suites/world/schemas',
  ],
  oracles: ['src/llm', 'npm:openai', 'test/suites/oracles', 'test/suites/world/oracles'],
  'model-servers': [
    ...['src/llm', 'src/agent', 'dev/scripted-model', 'npm:openai', 'test/helpers/model-server.ts'],
    ...['test/suites/world/phoenix/platform.ts', 'test/suites/world/model-servers'],
  ],
  'git-hosts': ['src/pull-requests', 'src/repository', 'dev/git-host', 'npm:@octokit/core', ...gitHosts('github')],
  gitlab: ['src/pull-requests', 'src/repository', ...gitHosts('gitlab')],
  'azure-devops': ['src/pull-requests', 'src/repository', ...gitHosts('azure-devops')],
  poolers: [
    ...['config/database-address.ts', 'src/data/db', 'src/data/queue.ts', 'src/events', 'src/rounds', 'npm:postgres'],
    ...['test/suites/contract/world.ts', 'test/suites/world/poolers'],
  ],
  minio: [
    ...['src/aws', 'src/data', 'src/plan/state', 'pipeline/workspace', 'dev/object-store', 'npm:aws4fetch'],
    ...['routes/health.ts', 'test/suites/contract/world.ts', 'test/suites/world/minio'],
  ],
  backends: [
    ...['pipeline/steps/plan/existing-state.ts', 'pipeline/kit/engine.ts', 'pipeline/kit/run-job.ts'],
    ...['pipeline/kit/state-keys.ts', 'sidecars/iac/engine', 'sidecars/iac/jobs', 'sidecars/iac/host-programs'],
    ...['sidecars/iac/sandbox', 'test/suites/azurite/start.ts'],
    'test/suites/world/backends',
  ],
  schemathesis: [
    ...['routes', 'src/base', 'src/context.ts', 'src/access', 'src/rounds', 'src/saved-plans', 'src/events'],
    ...['src/sessions', 'src/notifications', 'sidecars', 'contracts', 'npm:hono', 'npm:@hono/zod-openapi', 'npm:zod'],
    'test/suites/world/schemathesis',
  ],
  kubeconfig: ['sidecars/iac/inventory', 'test/suites/world/kubeconfig'],
  oci: ['sidecars/iac/inventory', 'test/suites/world/oci'],
  phoenix: [
    ...['src/observe', 'src/prompts', 'src/agent', 'src/chains', 'src/llm/prices.ts'],
    ...['npm:@opentelemetry/sdk-trace-base', 'npm:@opentelemetry/otlp-transformer', 'test/suites/world/phoenix'],
  ],
  oidc: [
    ...['src/access', 'routes/access.ts', 'routes/middleware.ts', 'console/build', 'console/client', 'npm:jose'],
    'npm:oidc-client-ts',
    ...['test/suites/console/sign-in', 'test/suites/world/oidc', 'docs/sign-in.md'],
  ],
  collector: [
    ...['src/observe', 'src/runtime', 'npm:@opentelemetry/sdk-trace-base', 'npm:@opentelemetry/otlp-transformer'],
    'test/suites/world/collector',
  ],
  proxies: [
    ...[
      'routes/app.ts',
      'routes/health.ts',
      'routes/middleware.ts',
      'routes/sse-answers.ts',
      'src/events',
      'src/access/caller-address.ts',
    ],
    ...['src/runtime/serve.ts', 'docs/examples/proxies', 'npm:@hono/node-server', 'test/suites/world/proxies'],
  ],
  prometheus: ['src/observe', 'test/suites/world/prometheus'],
  kubernetes: [
    ...['sidecars/iac', 'src/plan', 'src/services', 'src/reports', 'src/pull-requests', 'pipeline'],
    'test/suites/world/kubernetes',
  ],
  chart: ['deploy/chart', 'test/suites/chart', 'test/suites/world/kubernetes', 'test/suites/world/chart'],
}

/** Rooms that meet no counterpart, and what holds them in its place. */
export const HELD_ELSEWHERE: Readonly<Record<string, string>> = {
  'console/ui': 'npm run test:console',
  'console/screens': 'npm run test:console',
  bench: 'npm run bench',
  'src/budget': 'npm test',
}

/** The files with which all parts are started. */
export const SHARED = ['test/suites/world/tools', 'test/suites/world/run-command.ts']

function gitHosts(host: string): string[] {
  const own = ['part.ts', 'openapi.ts', 'faked.ts', `${host}.world.ts`].map(
    (name) => `test/suites/world/git-hosts/${name}`,
  )
  return ['test/suites/oracles/git-hosts', ...own]
}
