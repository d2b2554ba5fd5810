import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../../../src/base/log.ts'
import { createObjectStore } from '../../../../src/data/storage/create.ts'
import { deriveProjectId } from '../../../../src/plan/state/managed-state.ts'
import type { IacClient } from '../../../../src/services/iac/contract.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { scriptedLlm } from '../../../pipeline/steps/scripted-llm.ts'
import { applyJobs, applyReports, applyRound, applyScripts, managedState } from '../../modes/apply-world.ts'
import { decompose, driftReport, driftReportOf, driftScripts, full, IN_SYNC } from '../../modes/drift-world.ts'
import { done, targets, write } from '../../modes/scripts.ts'
import { engineBeside, firstRound } from '../../modes/stack.ts'
import { until } from './cluster.ts'
import { configMap, merge, nothingElse, PROVIDER, provider, settings, startWorld } from './world.ts'

/** Seconds of one engine command. A namespace that hangs would be waited for during five minutes. */
const LIMIT = 45
const GRACE = 10
const world = startOnce(() =>
  startWorld({ IAC_JOB_TIMEOUT_SECONDS: String(LIMIT), IAC_STOP_GRACE_SECONDS: String(GRACE) }),
)

const NAMESPACE = 'resource "kubernetes_namespace_v1" "stuck" {\n  metadata {\n    name = "stuck"\n  }\n}\n'
const inNamespace = '/api/v1/namespaces/stuck'
const patch = { contentType: 'application/merge-patch+json' }

// It waits for more than a minute, so that the short form of continuous integration is without it.
describe.skipIf(process.env.WORLD_CI === 'true')('a namespace with a finaliser that nobody works off', () => {
  it('ends its apply within the limit of a command, with what it waited for; the state keeps it', async () => {
    const repo_uri = await world.repository({ 'main.tf': PROVIDER, 'stuck.tf': NAMESPACE })
    await (await engineBeside(world, repo_uri, world.beside)).apply()
    const holding = { metadata: { name: 'holding', finalizers: ['example.org/never'] } }
    await world.cluster.call('POST', `${inNamespace}/configmaps`, holding)
    const context = world.context(
      scriptedLlm(
        applyScripts({
          task_complete: [{ calls: [['delete_file', { target_file: 'stuck.tf' }]] }, done('Removed the namespace.')],
          generate_engine_targets: targets('kubernetes_namespace_v1.stuck'),
          ...nothingElse,
        }),
      ),
    )
    const session = await firstRound(world, context, { repo_uri, provider, query: 'Remove the namespace' })
    expect([session.failures, session.statuses.at(-1)]).toEqual([[], 'completed'])
    const started = performance.now()
    const applied = await applyRound(world, context, session.uuid)
    expect((performance.now() - started) / 1_000).toBeLessThan(LIMIT + GRACE + 30)
    expect([applied.statuses.at(-1), applied.messages.at(-1)]).toEqual([
      'failed',
      `runner failed: The engine did not finish within ${LIMIT}s.`,
    ])
    expect(applied.messages).toContainEqual(expect.stringContaining('kubernetes_namespace_v1.stuck: Still destroying'))
    expect((await applyReports(world, session.uuid)).at(-1)).toMatchObject({
      status: 'Failed',
      execution_summary: expect.stringContaining('It is not known what this apply changed'),
      recommendations: expect.arrayContaining([expect.stringContaining('kubernetes_namespace_v1.stuck')]),
    })
    expect(await world.cluster.call('GET', inNamespace)).toMatchObject({ status: { phase: 'Terminating' } })
    expect(await managedState(context, repo_uri)).toEqual(['kubernetes_namespace_v1.stuck'])
    await world.cluster.call('PATCH', `${inNamespace}/configmaps/holding`, { metadata: { finalizers: null } }, patch)
    await until(async () =>
      expect(await world.cluster.call('GET', inNamespace, undefined, { allowed: [404] })).toMatchObject({ code: 404 }),
    )
    await merge(world, repo_uri, session.branch)
    // The engine was killed with its lock, which is removed as the report says.
    const id = await deriveProjectId(repo_uri, 'acme-test', null)
    const lock = `${id}/terraform.tfstate.tflock`
    const { storage } = world.config
    const states = createObjectStore({ ...storage, bucket: storage.engine_state_bucket }, { fetch, log: silentLogger })
    expect(new TextDecoder().decode(await states.get(lock))).toContain('OperationTypeApply')
    await states.delete(lock)
    const after = await firstRound(world, world.context(scriptedLlm(driftScripts())), { repo_uri, provider, ...full })
    expect([after.failures, after.statuses.at(-1)]).toEqual([[], 'completed'])
    expect(after.messages).toContain(IN_SYNC)
  })
})

describe('an API server that goes away', () => {
  it.each([
    'generate',
    'drift',
  ] as const)('during a plan fails a round: %s; the next one does the same work', async (mode) => {
    const name = `in-${mode}`
    const repo_uri = await world.repository({ 'provider.tf': PROVIDER, 'main.tf': settings(name, 'blue') })
    await (await engineBeside(world, repo_uri, world.beside)).apply()
    const painted = write('main.tf', settings(name, 'red'))
    const scripts = {
      generate: applyScripts({
        task_complete: [painted, done('Painted.')],
        generate_engine_targets: targets(`kubernetes_config_map_v1.${name}`),
        ...nothingElse,
      }),
      drift: driftScripts({
        task_complete: [painted, done('Painted.')],
        report_decomposed_task_operations: decompose(),
        generate_engine_drift_report: driftReport(),
      }),
    }
    if (mode === 'drift') await world.cluster.call('PATCH', configMap(name), { data: { colour: 'red' } }, patch)
    const llm = scriptedLlm(scripts[mode])
    const { iac } = world.context(llm)
    const away: IacClient['run'] = async (kind, body, options) => {
      if (kind === 'plan') await world.cluster.killApiServer()
      return await iac.run(kind, body, options)
    }
    const request = { repo_uri, provider, query: 'Paint it red', mode } as const
    const failed = await firstRound(world, world.context(llm, { iac: { ...iac, run: away } }), request)
    await world.cluster.startApiServer()
    const unreachable = expect.stringMatching(/Get "https:.*(connection|EOF)/)
    if (mode === 'generate') {
      // The generator is not asked to mend what no code can mend.
      expect([failed.statuses.at(-1), llm.of('task_complete').length]).toEqual(['failed', 2])
      expect(failed.messages.at(-1)).toEqual(unreachable)
      expect(failed.messages.at(-1)).toContain('The engine cannot reach a service that it needs.')
    } else
      expect(await driftReportOf(world, failed.uuid)).toMatchObject({
        status: 'Failed',
        remediated_resources: [],
        unreconciled_drift: [{ reason: 'The drift could not be read.', details: [unreachable] }],
      })
    const session = await firstRound(world, world.context(scriptedLlm(scripts[mode])), request)
    expect([session.failures, session.statuses.at(-1)]).toEqual([[], 'completed'])
  })

  it('during an apply leaves what was made in state and report, and a second apply makes the rest', async () => {
    const code = `${settings('first', 'blue')}
resource "time_sleep" "between" {
  create_duration = "10s"
  depends_on      = [kubernetes_config_map_v1.first]
}
${settings('second', 'blue').replace(/\n}\n$/, '\n  depends_on = [time_sleep.between]\n}\n')}`
    const TIME = PROVIDER.replace(
      '    kubernetes = {',
      '    time = {\n      source = "hashicorp/time"\n    }\n    kubernetes = {',
    )
    const repo_uri = await world.repository({ 'main.tf': TIME })
    const scripts = () =>
      applyScripts({
        task_complete: [write('two.tf', code), done('Added both.')],
        generate_engine_targets: targets('kubernetes_config_map_v1.second'),
        ...nothingElse,
      })
    const context = world.context(scriptedLlm(scripts()))
    const request = { repo_uri, provider, query: 'Add two settings' } as const
    const session = await firstRound(world, context, request)
    expect([session.failures, session.statuses.at(-1)]).toEqual([[], 'completed'])
    const applying = applyRound(world, context, session.uuid)
    // That the object can be read is too early: the provider may not have been answered yet.
    await until(async () => {
      const [job] = applyJobs(world, session.uuid)
      const output = await context.iac.output?.(job?.job_id ?? '')
      expect(output?.stdout).toContain('kubernetes_config_map_v1.first: Creation complete')
    })
    await world.cluster.killApiServer()
    const applied = await applying
    await world.cluster.startApiServer()
    expect([applied.failures, applied.statuses.at(-1)]).toEqual([[], 'completed'])
    const [report] = await applyReports(world, session.uuid)
    expect(report).toMatchObject({ status: 'Partial', summary: { created: 2, failed: 1 } })
    expect(report?.resource_changes).toContainEqual(
      expect.objectContaining({
        resource_name: 'second',
        status: 'failed',
        error_message: expect.stringContaining('Post "'),
      }),
    )
    expect((await managedState(context, repo_uri)).toSorted()).toEqual([
      'kubernetes_config_map_v1.first',
      'time_sleep.between',
    ])
    const again = world.context(scriptedLlm(scripts()))
    const second = await firstRound(world, again, request)
    expect([second.failures, second.statuses.at(-1)]).toEqual([[], 'completed'])
    expect((await applyRound(world, again, second.uuid)).statuses.at(-1)).toBe('completed')
    expect((await applyReports(world, second.uuid)).at(-1)).toMatchObject({
      status: 'Success',
      summary: { created: 1, failed: 0 },
    })
    expect(await world.cluster.call('GET', configMap('second'))).toMatchObject({ data: { colour: 'blue' } })
  })
})
