import { describe, expect, it } from 'vitest'
import { startOnce } from '../../../helpers/start-once.ts'
import { scriptedLlm } from '../../../pipeline/steps/scripted-llm.ts'
import { applyReports, applyRound } from '../../modes/apply-world.ts'
import { decompose, driftScripts, full, IN_SYNC, replace } from '../../modes/drift-world.ts'
import { addresses, importReport, importRound, QUERY } from '../../modes/import-world.ts'
import { done, targets, write } from '../../modes/scripts.ts'
import { engineBeside, firstRound } from '../../modes/stack.ts'
import { configMap, generating, PROVIDER, provider, settings, startWorld } from './world.ts'

const world = startOnce(startWorld)

describe('rounds against a cluster', () => {
  it('generate and apply: the object is there as the plan said', async () => {
    const context = world.context(scriptedLlm(generating('made')))
    const repo_uri = await world.repository({ 'main.tf': PROVIDER })
    const session = await firstRound(world, context, { repo_uri, provider, query: 'Add settings' })
    expect(session.failures).toEqual([])
    expect([session.statuses.at(-1), session.messages.at(-1)]).toEqual(['completed', 'GENERATE'])
    const applied = await applyRound(world, context, session.uuid)
    expect(applied.failures).toEqual([])
    expect(applied.statuses.at(-1)).toBe('completed')
    expect(await world.cluster.call('GET', configMap('made'))).toMatchObject({ data: { colour: 'blue' } })
  })

  it('drift: what was changed by hand is taken over, and the plan is empty', async () => {
    const repo_uri = await world.repository({ 'main.tf': PROVIDER + settings('drifting', 'blue') })
    await (await engineBeside(world, repo_uri, world.beside)).apply()
    const contentType = 'application/merge-patch+json'
    await world.cluster.call('PATCH', configMap('drifting'), { data: { colour: 'red' } }, { contentType })
    const mend = [replace('    colour = "blue"', '    colour = "red"'), done('Took it over.')]
    const llm = scriptedLlm(driftScripts({ task_complete: mend, report_decomposed_task_operations: decompose() }))
    const session = await firstRound(world, world.context(llm), { repo_uri, provider, ...full })
    expect([session.failures, session.messages]).toEqual([[], expect.arrayContaining([IN_SYNC])])
    expect(session.statuses.at(-1)).toBe('completed')
  })

  it('import: what the inventory finds is taken in under its identifier', async () => {
    await world.cluster.call('POST', '/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'found' },
      data: { colour: 'green' },
    })
    const id = 'apiVersion=v1,kind=ConfigMap,namespace=default,name=found'
    const others = ['made', 'drifting'].map((name) => configMap(name))
    for (const path of others) await world.cluster.call('DELETE', path, undefined, { allowed: [404] })
    const address = 'kubernetes_config_map_v1.found'
    const llm = scriptedLlm(
      importRound({
        task_complete: [write('found.tf', settings('found', 'green')), done('Wrote one block.')],
        generate_engine_targets: targets(address),
        import_addresses: addresses([address, id]),
      }),
    )
    const repo_uri = await world.repository({ 'main.tf': PROVIDER })
    const session = await firstRound(world, world.context(llm), { repo_uri, provider, mode: 'import', query: QUERY })
    expect(session.failures).toEqual([])
    expect(session.statuses.at(-1)).toBe('completed')
    expect(await importReport(world, session.uuid)).toMatchObject({
      status: 'Succeeded',
      summary: { selected: 1, imported: 1, failed: 0 },
      state_alignment: expect.stringContaining('Aligned'),
    })
  })

  it('a cluster that is away fails an apply, whose report says that nothing was made', async () => {
    const context = world.context(scriptedLlm(generating('late')))
    const repo_uri = await world.repository({ 'main.tf': PROVIDER })
    const session = await firstRound(world, context, { repo_uri, provider, query: 'Add settings' })
    expect(session.statuses.at(-1)).toBe('completed')
    await world.cluster.killApiServer()
    const applied = await applyRound(world, context, session.uuid)
    expect(applied.statuses.at(-1)).toBe('completed')
    expect((await applyReports(world, session.uuid)).at(-1)).toMatchObject({
      status: 'Failed',
      summary: { created: 0 },
    })
    await world.cluster.startApiServer()
    await world.cluster.call('GET', configMap('late'), undefined, { allowed: [404] })
  })
})
