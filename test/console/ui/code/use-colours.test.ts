import { describe, expect, it } from 'vitest'
import { colourLine } from '../../../../console/ui/code/colours/colours.ts'
import { languageOf } from '../../../../console/ui/code/use-colours.ts'

const drawn = (text: string, language = 'hcl') =>
  colourLine(text, language, 'code')
    .filter(({ kind }) => kind !== '')
    .map(({ text: part, kind }) => `${kind}: ${part.trim()}`)

describe('colourLine', () => {
  it('colours a line of HCL', () => {
    expect(drawn('resource "aws_sqs_queue" "orders" {')).toEqual([
      'keyword: resource',
      'string: "aws_sqs_queue"',
      'string: "orders"',
    ])
    expect(drawn('  delay = 30 # seconds')).toEqual(['name: delay', 'value: 30', 'comment: # seconds'])
    expect(drawn('on: true', 'yaml')).toEqual(['name: on', 'value: true'])
  })

  it('keeps every character of a line, whatever stands in it', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how HCL writes it
    for (const line of ['</span><script>alert(1)</script>', '"${a["b"]}" <<EOT', '\u202e"', '', '${${${'])
      for (const language of ['hcl', 'json', 'yaml', 'none'])
        expect(
          colourLine(line, language, 'code')
            .map(({ text }) => text)
            .join(''),
        ).toBe(line)
  })

  it('needs no long time for lines that were made to take one', () => {
    const parts = ['<<A', '"${', '${"', '$$', '\\"', 'resource ', '"a" ', '/*', 'a', '. ', '-', '{"', "'", '&a ', '!!']
    const start = performance.now()
    for (const part of parts)
      for (const language of ['hcl', 'json', 'yaml']) colourLine(part.repeat(1_000).slice(0, 1_000), language, 'code')
    expect(performance.now() - start).toBeLessThan(3_000)
  })

  it('knows the language of a file by its name', () => {
    expect(['a/main.tf', 'x.tf.json', 'c.YML', 'run.sh', 'tf'].map(languageOf)).toEqual([
      'hcl',
      'json',
      'yaml',
      null,
      null,
    ])
  })
})
