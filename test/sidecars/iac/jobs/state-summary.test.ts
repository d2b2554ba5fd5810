import { describe, expect, it } from 'vitest'
import { summarise } from '../../../../sidecars/iac/jobs/state-summary.ts'

const resource = (more: object) => ({ mode: 'managed', type: 'aws_db_instance', name: 'main', ...more })
const state = (resources: object[]) =>
  JSON.stringify({ version: 4, serial: 7, lineage: 'a-lineage', outputs: {}, resources })

describe('the summary of a state', () => {
  it('names the addresses as plans write them, and no value', () => {
    const password = 'hunter2-hunter2'
    const text = state([
      resource({ instances: [{ attributes: { password } }] }),
      resource({ module: 'module.a["x"]', instances: [{ index_key: 'eu' }, { index_key: 0 }] }),
      resource({ name: 'old', instances: [{ deposed: 'a1b2c3d4', attributes: {} }] }),
      resource({ mode: 'data', instances: [{}] }),
    ])
    const summary = summarise(text)
    expect(summary).toMatchObject({
      lineage: 'a-lineage',
      serial: 7,
      addresses: [
        'aws_db_instance.main',
        'module.a["x"].aws_db_instance.main["eu"]',
        'module.a["x"].aws_db_instance.main[0]',
      ],
    })
    expect(JSON.stringify(summary)).not.toContain(password)
  })

  it('has another hash for another value, and the same for another serial', () => {
    const of = (size: number, serial = 7) =>
      summarise(state([resource({ instances: [{ attributes: { size } }] })]).replace('7', String(serial)))
    expect(of(1)?.content_sha256).toBe(of(1, 8)?.content_sha256)
    expect(of(1)?.content_sha256).not.toBe(of(2)?.content_sha256)
  })

  it('knows no state and what is none', () => {
    expect(summarise('')).toMatchObject({ lineage: '', serial: 0, addresses: [] })
    for (const text of ['[]', 'no json', '{"lineage":1}']) expect(summarise(text)).toBeNull()
  })
})
