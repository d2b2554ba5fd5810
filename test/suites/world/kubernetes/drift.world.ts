import { describe, expect, it } from 'vitest'
import { startOnce } from '../../../helpers/start-once.ts'
import { scriptedLlm } from '../../../pipeline/steps/scripted-llm.ts'
import { textsOf } from '../../modes/artifacts.ts'
import { decompose, driftReport, driftReportOf, driftScripts, full, IN_SYNC, replace } from '../../modes/drift-world.ts'
import { addresses, importReport, importRound } from '../../modes/import-world.ts'
import { done, operations, SPLIT, targets, write } from '../../modes/scripts.ts'
import { engineBeside, firstRound } from '../../modes/stack.ts'
import type { Json } from './cluster.ts'
import { configMap, merge, PROVIDER, provider, settings, startWorld } from './world.ts'

const world = startOnce(startWorld)

/** A repository whose objects are there. */
async function applied(...names: string[]): Promise<string> {
  const blocks = names.map((name) => settings(name, 'blue'))
  const repo_uri = await world.repository({ 'main.tf': [PROVIDER, ...blocks].join('') })
  await (await engineBeside(world, repo_uri, world.beside)).apply()
  return repo_uri
}

const paint = (name: string, colour: string) =>
  world.cluster.call('PATCH', configMap(name), { data: { colour } }, { contentType: 'application/merge-patch+json' })
const metadataOf = async (name: string) =>
  (await world.cluster.call<{ metadata: Json }>('GET', configMap(name))).metadata

describe('what was done by hand in a cluster', () => {
  it('partial drift: what the request names is taken over, and the rest is told', async () => {
    const repo_uri = await applied('named', 'other')
    await paint('named', 'red')
    await paint('other', 'green')
    const mended = settings('named', 'red')
    const llm = scriptedLlm(
      driftScripts({
        generate_engine_targets: targets('kubernetes_config_map_v1.named'),
        task_complete: [replace(settings('named', 'blue').trimEnd(), mended.trimEnd()), done('Took it over.')],
        report_decomposed_task_operations: decompose(),
        generate_engine_drift_report: driftReport(),
      }),
    )
    const request = { mode: 'drift', query: 'Mend the settings called named', is_partial: true } as const
    const session = await firstRound(world, world.context(llm), { repo_uri, provider, ...request })
    expect([session.failures, session.statuses.at(-1)]).toEqual([[], 'completed'])
    expect(session.messages).toContain(IN_SYNC)
    expect(await world.git(repo_uri, 'show', `${session.branch}:main.tf`)).toBe(
      PROVIDER + mended + settings('other', 'blue'),
    )
    const report = await driftReportOf(world, session.uuid)
    expect(report.status).toBe('Succeeded')
    expect(report.summary).toContain('\n- update kubernetes_config_map_v1.other: ')
    // Nothing was written to the cluster.
    expect(await world.cluster.call('GET', configMap('other'))).toMatchObject({ data: { colour: 'green' } })
  })

  it('full drift: an object that was deleted leaves the code, and nothing makes it again', async () => {
    const repo_uri = await applied('kept', 'deleted')
    const before = await metadataOf('kept')
    await world.cluster.call('DELETE', configMap('deleted'))
    const llm = scriptedLlm(
      driftScripts({
        task_complete: [write('main.tf', PROVIDER + settings('kept', 'blue')), done('Removed it.')],
        report_decomposed_task_operations: decompose(),
        generate_engine_drift_report: driftReport(),
      }),
    )
    const session = await firstRound(world, world.context(llm), { repo_uri, provider, ...full })
    expect([session.failures, session.statuses.at(-1)]).toEqual([[], 'completed'])
    expect(session.messages).toContain(IN_SYNC)
    // As what was done by hand, not as what would undo it.
    expect(JSON.parse((await textsOf(world, session.uuid, 'plan'))[0] ?? '')).toMatchObject([
      { address: 'kubernetes_config_map_v1.deleted', action: 'delete resource' },
    ])
    await merge(world, repo_uri, session.branch)
    await (await engineBeside(world, repo_uri, world.beside)).apply()
    expect(await metadataOf('kept')).toEqual(before)
    expect(await world.cluster.call('GET', configMap('deleted'), undefined, { allowed: [404] })).toMatchObject({
      reason: 'NotFound',
    })
  })

  it('partial import: what the request names is taken in, and the rest is left out by its identifier', async () => {
    for (const name of ['wanted', 'unwanted'])
      await world.cluster.call('POST', '/api/v1/namespaces/default/configmaps', {
        metadata: { name },
        data: { colour: 'green' },
      })
    const idOf = (name: string) => `apiVersion=v1,kind=ConfigMap,namespace=default,name=${name}`
    const address = 'kubernetes_config_map_v1.wanted'
    const llm = scriptedLlm(
      importRound({
        [SPLIT]: operations([idOf('wanted')]),
        task_complete: [write('wanted.tf', settings('wanted', 'green')), done('Wrote one block.')],
        generate_engine_targets: targets(address),
        import_addresses: addresses([address, idOf('wanted')]),
      }),
    )
    const repo_uri = await world.repository({ 'main.tf': PROVIDER })
    const request = { mode: 'import', query: 'Import the settings called wanted', is_partial: true } as const
    const session = await firstRound(world, world.context(llm), { repo_uri, provider, ...request })
    expect([session.failures, session.statuses.at(-1)]).toEqual([[], 'completed'])
    expect(session.messages).toContain(IN_SYNC)
    const report = await importReport(world, session.uuid)
    expect(report).toMatchObject({ status: 'Succeeded', summary: { selected: 1, imported: 1, failed: 0 } })
    expect(report.excluded_resources).toContainEqual({
      resource_id: idOf('unwanted'),
      details: 'Not selected by the request.',
    })
  })
})
