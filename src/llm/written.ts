import { isJsonObject, type Json, parseJson } from '../base/json.ts'
import { argumentsText, readValue } from './arguments.ts'
import type { ToolDefinition } from './inference.ts'

/**
 * What a server without a parser passes on in the text of an answer: thoughts and tool calls, as the templates of
 * models write them. Sources: the tool and reasoning parsers of vLLM, SGLang, llama.cpp and Ollama.
 */
const THOUGHT_START = /^\s*(?:<(?:\w+:)?(?:think|thinking|thought|reasoning)>|\[THINK\])/i
const THOUGHT_END = /<\/(?:\w+:)?(?:think|thinking|thought|reasoning)>|\[\/THINK\]/i
/** The analysis of an answer in channels, and the tokens around its final text. */
const CHANNELS =
  /<\|channel\|>analysis<\|message\|>[\s\S]*?(?:<\|end\|>|$)|<\|start\|>assistant|<\|channel\|>final<\|message\|>|<\|return\|>/g

/** Returns a text without the thoughts before its answer; empty when the thoughts did not end. */
export function withoutThoughts(text: string): string {
  const spoken = text.includes('<|channel|>') ? text.replaceAll(CHANNELS, '') : text
  const end = THOUGHT_END.exec(spoken)
  if (THOUGHT_START.test(spoken)) return end ? withoutThoughts(spoken.slice(end.index + end[0].length)).trimStart() : ''
  // Some templates put the opening tag into the prompt, so that only the closing one is in the answer.
  const isAnswer = !end || /<think/i.test(spoken.slice(0, end.index))
  return isAnswer ? spoken : spoken.slice(end.index + end[0].length).trimStart()
}

export interface WrittenCall {
  name: string
  arguments: string
}

/** The token with which the templates of models begin their calls. */
const MARKER =
  /<[|｜]?(?:\w+:)?(?:tool[_▁]?calls?|function_call|function|invoke|python_tag|START_ACTION)[^<>]*>|\[TOOL_CALLS\]|\bfunctools(?=\[)|<\|channel\|>commentary(?=[^<]* to=)/i

/**
 * Reads the calls that a model wrote into its text, and the text before them. A call has a marker before it, or is the
 * whole text and names an offered tool; JSON within prose is none. A marked call that is broken or names no offered
 * tool is a call too, so that its answer tells the model what is wrong.
 */
export function readWritten(text: string, tools: readonly ToolDefinition[]): { text: string; calls: WrittenCall[] } {
  const marker = MARKER.exec(text)
  const calls = marker ? readMarked(text.slice(marker.index), tools) : readBare(text, tools)
  if (calls.length === 0) return { text, calls }
  return { text: marker ? text.slice(0, marker.index).trim() : '', calls }
}

/** Reads a text that is JSON from its first letter to its last, also in a code fence. */
function readBare(text: string, tools: readonly ToolDefinition[]): WrittenCall[] {
  const body = /^\s*```[\w-]*\s*\n([\s\S]*?)\n?\s*```\s*$/.exec(text)?.[1] ?? text
  const calls: WrittenCall[] = []
  let rest = body.trim()
  while (rest !== '') {
    const found = /^[[{]/.test(rest) ? readValue(rest, 0) : null
    const named = found ? callsIn(found.value) : []
    if (!found || named.length === 0 || !named.every(({ name }) => tools.some((tool) => tool.name === name))) return []
    calls.push(...named)
    rest = rest.slice(found.end).replace(/^[\s;,]+/, '')
  }
  return calls
}

function readMarked(text: string, tools: readonly ToolDefinition[]): WrittenCall[] {
  const tagged = readTagged(text, tools)
  if (tagged.length > 0) return tagged
  const calls: WrittenCall[] = []
  let reached = 0
  for (;;) {
    const offset = text.slice(reached).search(/\{|\[(?=\s*\{)/)
    if (offset < 0) return calls
    const start = reached + offset
    const before = nameBefore(text.slice(reached, start), tools)
    const found = readValue(text, start)
    if (!found) {
      const broken = brokenCall(text.slice(start), before)
      return broken ? [...calls, broken] : calls
    }
    const named = callsIn(found.value)
    if (named.length > 0) calls.push(...named)
    else if (before !== null && isJsonObject(found.value))
      calls.push({ name: before, arguments: text.slice(start, found.end) })
    reached = found.end
  }
}

/** Returns the calls of a JSON value: an object with name and arguments, or a list of them. */
function callsIn(value: Json): WrittenCall[] {
  if (Array.isArray(value)) {
    const calls = value.map(callsIn)
    return calls.every(({ length }) => length > 0) ? calls.flat() : []
  }
  if (!isJsonObject(value)) return []
  if (isJsonObject(value.function)) return callsIn(value.function)
  const name = value.name ?? value.tool_name ?? value.function ?? value.tool
  const args = value.arguments ?? value.parameters ?? value.args ?? value.input
  if (typeof name !== 'string' || name === '' || args === undefined) return []
  return [{ name: bareName(name), arguments: argumentsText(args) }]
}

/** Removes the namespace and the number that some templates add to the name of a tool. */
const bareName = (name: string): string => name.replace(/^functions?\./, '').replace(/:\d+$/, '')

/** Returns the tool that the words before a JSON object name, as in `[TOOL_CALLS]name[ARGS]{…}`; null for none. */
function nameBefore(text: string, tools: readonly ToolDefinition[]): string | null {
  const words = text.split(/[^\w.:-]+/).map((word) => bareName(word.replace(/^to=/, '')))
  return words.findLast((word) => tools.some(({ name }) => name === word)) ?? null
}

function brokenCall(text: string, before: string | null): WrittenCall | null {
  const name = before ?? /"(?:name|tool_name)"\s*:\s*"([^"]+)"/.exec(text)?.[1]
  if (!name) return null
  const args = /"(?:arguments|parameters)"\s*:\s*/.exec(text)
  const rest = args && before === null ? text.slice(args.index + args[0].length) : text
  return { name: bareName(name), arguments: rest.replace(/\s*(?:<\/?[^<>]*>\s*)+$/, '') }
}

const TAGGED = /<(?:function=|invoke name=)["']?([\w.:-]+)["']?>([\s\S]*?)(<\/(?:function|invoke)>|$)/g
const LISTED = /<tool_call>\s*([\w.:-]+)\s*\n?((?:\s*<arg_key>[\s\S]*?<\/arg_value>)*)\s*(<\/tool_call>|$)/g
const PARAMETER =
  /<parameter(?:=| name=)["']?([^"'<>]+)["']?[^<>]*>([\s\S]*?)<\/parameter>|<arg_key>([\s\S]*?)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/g

/** Reads calls whose arguments are tags, one each. A call that is not closed keeps its text, which is no JSON. */
function readTagged(text: string, tools: readonly ToolDefinition[]): WrittenCall[] {
  return [...text.matchAll(TAGGED), ...text.matchAll(LISTED)].map(([whole, found = '', body = '', end]) => {
    const name = bareName(found)
    if (body.trim().startsWith('{')) return { name, arguments: argumentsText(body.trim()) }
    if (!end) return { name, arguments: whole }
    const { properties } = tools.find((tool) => tool.name === name)?.parameters ?? {}
    const args = [...body.matchAll(PARAMETER)].map(([, key, value, listedKey, listedValue]) => {
      const parameter = (key ?? listedKey ?? '').trim()
      const schema = isJsonObject(properties) ? properties[parameter] : undefined
      return [parameter, typedValue((value ?? listedValue ?? '').replace(/^\n|\n$/g, ''), schema)] as const
    })
    return { name, arguments: JSON.stringify(Object.fromEntries(args)) }
  })
}

/** A text stays a text where the schema says so; elsewhere it is JSON if it can be. */
const typedValue = (text: string, schema: unknown): unknown =>
  isJsonObject(schema) && schema.type === 'string' ? text : (parseJson(text) ?? text)
