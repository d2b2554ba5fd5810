/**
 * Answers of servers of the chat-completions form, with what they hold. `source` names the published file or document
 * of the server after which the answer was written, or the report that shows it.
 */
interface Row<Expected> {
  server: string
  /** What the answer holds, for the name of the test. */
  holds: string
  source: string
  /** A whole answer, or the text of a stream. */
  answer: object | string
  expected: Expected
}

type Call = [name: string, args: string]
interface Read {
  text?: string
  calls?: Call[]
  finish?: string
}

const LOOK: Call = ['read_file', '{"target_file":"main.tf"}']
const LIST: Call = ['list_dir', '{}']

const chunk = (delta: object, finish_reason: unknown = null, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
})
const calls = (...tool_calls: object[]) => chunk({ tool_calls })
const called = (name: unknown, args?: unknown) => ({ function: { name, arguments: args } })
const DONE = '[DONE]'

/** The text of a stream with one event for each value, as `data: …` and a blank line. */
const stream = (...events: (object | string)[]) =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('')

const whole = (message: object, finish_reason: unknown = 'stop', more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  ...more,
})

const row = (server: string, source: string, holds: string, answer: object | string, expected: Read): Row<Read> => ({
  ...{ server, source, holds, answer, expected },
})

const STREAMS = [
  row(
    'LiteLLM',
    'BerriAI/litellm PR 37792',
    'parallel calls with the same index and ids of their own',
    stream(
      calls({ index: 0, id: 'call_a', type: 'function', ...called('read_file', '{"target_file":"main.tf"}') }),
      calls({ index: 0, id: 'call_b', type: 'function', ...called('list_dir', '{}') }),
      chunk({}, 'tool_calls'),
      DONE,
    ),
    { calls: [LOOK, LIST] },
  ),
  row(
    'LiteLLM',
    'BerriAI/litellm#21331',
    'two calls of one tool with the same index, in parts that name their id',
    stream(
      calls({ index: 0, id: 'call_a', ...called('read_file', '') }),
      calls({ index: 0, id: 'call_b', ...called('read_file', '') }),
      calls({ index: 0, id: 'call_a', ...called(null, '{"target_file":') }),
      calls({ index: 0, id: 'call_b', ...called(null, '{"target_file":"b.tf"}') }),
      calls({ index: 0, id: 'call_a', ...called(null, '"main.tf"}') }),
      chunk({}, 'tool_calls'),
    ),
    { calls: [LOOK, ['read_file', '{"target_file":"b.tf"}']] },
  ),
  row(
    'Ollama',
    'ollama/ollama#15457, openai/openai.go ToChunk',
    'every call whole in one chunk with index 0, and finish_reason stop',
    stream(
      chunk({
        role: 'assistant',
        content: '',
        tool_calls: [
          { id: 'call_x1', index: 0, type: 'function', ...called('read_file', '{"target_file":"main.tf"}') },
        ],
      }),
      chunk({
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'call_x2', index: 0, type: 'function', ...called('list_dir', '{}') }],
      }),
      chunk({ role: 'assistant', content: '' }, 'stop'),
      { ...chunk({}), choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } },
      DONE,
    ),
    { calls: [LOOK, LIST] },
  ),
  row(
    'Ollama before 0.5',
    'ollama/ollama#7881',
    'calls without an index',
    stream(
      calls(
        { id: 'call_1', type: 'function', ...called('read_file', '{"target_file":"main.tf"}') },
        { id: 'call_2', type: 'function', ...called('list_dir', '{}') },
      ),
      chunk({}, 'stop'),
      DONE,
    ),
    { calls: [LOOK, LIST] },
  ),
  row(
    'a gateway before Gemini',
    'BerriAI/litellm PR 11999',
    'indexes from 1',
    stream(
      calls({ index: 1, id: 'call_1', type: 'function', ...called('read_file', '{"target_') }),
      calls({ index: 1, ...called(undefined, 'file":"main.tf"}') }),
      calls({ index: 2, id: 'call_2', type: 'function', ...called('list_dir', '{}') }),
      chunk({}, 'tool_calls'),
      DONE,
    ),
    { calls: [LOOK, LIST] },
  ),
  row(
    'MiniMax',
    'can1357/oh-my-pi PR 1779',
    'arguments as an object in a stream',
    stream(
      calls({ index: 0, id: 'call_1', type: 'function', ...called('read_file', { target_file: 'main.tf' }) }),
      chunk({}, 'tool_calls'),
      DONE,
    ),
    { calls: [LOOK] },
  ),
  row(
    'llama.cpp',
    'ggml-org/llama.cpp#20198',
    'arguments as an object in a whole answer',
    whole(
      { content: null, tool_calls: [{ type: 'function', id: '', ...called('read_file', { target_file: 'main.tf' }) }] },
      'tool_calls',
    ),
    { calls: [LOOK] },
  ),
  row(
    'llama.cpp',
    'common/chat.cpp common_chat_msg_diff::to_json_oaicompat',
    'the id and name once, then arguments letter by letter, and the usage in a chunk without choices',
    stream(
      chunk({ role: 'assistant', content: null }),
      calls({ index: 0, id: 'k1', type: 'function', ...called('read_file', '') }),
      ...[...'{"target_file":"main.tf"}'].map((letter) => calls({ index: 0, ...called(undefined, letter) })),
      chunk({}, 'tool_calls'),
      { ...chunk({}), choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 }, timings: { predicted_n: 3 } },
      DONE,
    ),
    { calls: [LOOK] },
  ),
  row(
    'llama-cpp-python',
    'llama_cpp/llama_chat_format.py _convert_chunks_to_chat_completion… and chatml_function_calling',
    'id and name with every part of the arguments, beside the former function_call',
    stream(
      chunk({ role: 'assistant', content: null, function_call: null, tool_calls: null }),
      ...['{"target_', 'file":', '"main.tf"}'].map((part) =>
        chunk({
          role: null,
          content: null,
          function_call: { name: 'read_file', arguments: part },
          tool_calls: [{ index: 0, id: 'call__0_read_file_c1', type: 'function', ...called('read_file', part) }],
        }),
      ),
      chunk({ role: null, content: null, function_call: null, tool_calls: null }, 'tool_calls'),
      DONE,
    ),
    { calls: [LOOK] },
  ),
  row(
    'vLLM',
    'spring-projects/spring-ai PR 5973',
    'the same id with every chunk',
    stream(
      calls({ index: 0, id: 'chatcmpl-tool-1', type: 'function', ...called('read_file') }),
      calls({ index: 0, id: 'chatcmpl-tool-1', ...called(null, '{"target_file":') }),
      calls({ index: 0, id: 'chatcmpl-tool-1', ...called(null, '"main.tf"}') }),
      chunk({ content: '' }, 'tool_calls'),
      DONE,
    ),
    { calls: [LOOK] },
  ),
  row(
    'vLLM',
    'entrypoints/openai/chat_completion/serving.py',
    'reasoning beside the text, CRLF, comments, and usage with every chunk',
    `: ping - 2026-11-28\r\n\r\n${stream(
      chunk({ role: 'assistant', content: '' }, null, { usage: { prompt_tokens: 7, completion_tokens: 0 } }),
      chunk({ reasoning_content: 'They want a greeting.', reasoning: 'They want a greeting.' }),
      chunk({ content: 'Hello' }, null, { usage: { prompt_tokens: 7, completion_tokens: 1 } }),
      chunk({ content: '.' }, 'stop', { usage: { prompt_tokens: 7, completion_tokens: 3 } }),
      DONE,
    ).replaceAll('\n', '\r\n')}`,
    { text: 'Hello.' },
  ),
  row(
    'a server that sends no id',
    'huggingface/smolagents PR 1958',
    'two calls of one index without ids: the first is complete',
    stream(
      calls({ index: 0, type: 'function', ...called('read_file', '{"target_file":"main.tf"}') }),
      calls({ index: 0, type: 'function', ...called('read_file', '{"target_file":"b.tf"}') }),
      chunk({}, 'tool_calls'),
    ),
    { calls: [LOOK, ['read_file', '{"target_file":"b.tf"}']] },
  ),
  row(
    'TGI',
    'backends/v3/src/server.rs chat_completions, ToolCallDelta',
    'an empty id, the name repeated with every part',
    stream(
      ...['{"target_file"', ':"main.tf"', '}'].map((part) =>
        calls({ index: 0, id: '', type: 'function', ...called('read_file', part) }),
      ),
      chunk({}, 'eos_token'),
      DONE,
    ),
    { calls: [LOOK] },
  ),
  row(
    'TGI before 3',
    'router/src/lib.rs ToolCallDelta: one object in place of a list',
    'tool_calls as one object, with the id 0',
    stream(
      chunk({ role: 'assistant', tool_calls: { index: 0, id: '', type: 'function', ...called('list_dir', '{}') } }),
      chunk({ role: 'assistant' }, 'eos_token'),
    ),
    { calls: [LIST] },
  ),
  row(
    'SGLang',
    'python/sglang/srt/entrypoints/openai/serving_chat.py',
    'the name in parts, and matched_stop beside the end',
    stream(
      calls({ index: 0, id: 'call_1', type: 'function', ...called('read_', '') }),
      calls({ index: 0, ...called('file', '') }),
      calls({ index: 0, ...called(null, '{"target_file":"main.tf"}') }),
      { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls', matched_stop: null }] },
      DONE,
    ),
    { calls: [LOOK] },
  ),
  row(
    'SGLang',
    'serving_chat.py: finish_reason of a chunk is a type, also after the last tokens',
    'no end at all, but a complete text',
    stream(chunk({ role: 'assistant', content: 'Done' }), chunk({ content: '.' }), DONE),
    { text: 'Done.' },
  ),
  row(
    'LM Studio',
    'docs: tool use, streamed chunks',
    'events with one line break between them',
    `${[chunk({ role: 'assistant', content: 'Do' }), chunk({ content: 'ne.' }), chunk({}, 'stop')].map((event) => `data: ${JSON.stringify(event)}\n`).join('')}data: [DONE]\n`,
    { text: 'Done.' },
  ),
  row(
    'Perplexity',
    'docs.perplexity.ai streaming: each chunk repeats the message so far',
    'a message beside each delta',
    stream(
      {
        ...chunk({}),
        choices: [{ index: 0, delta: { content: 'Do' }, message: { role: 'assistant', content: 'Do' } }],
      },
      {
        ...chunk({}),
        choices: [
          {
            index: 0,
            delta: { content: 'ne.' },
            message: { role: 'assistant', content: 'Done.' },
            finish_reason: 'stop',
          },
        ],
      },
    ),
    { text: 'Done.' },
  ),
  row(
    'a gateway',
    'BerriAI/litellm litellm/litellm_core_utils/streaming_handler.py: fake streams',
    'the last chunk with message in place of delta',
    stream(
      { ...chunk({}), choices: [] },
      {
        ...chunk({}),
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: null, tool_calls: [{ id: 'c', ...called('list_dir', '{}') }] },
            finish_reason: 'tool_calls',
          },
        ],
      },
      DONE,
    ),
    { calls: [LIST] },
  ),
  row(
    'Azure',
    'learn.microsoft.com: content filter streaming; the first chunk has no choices',
    'filter results without choices, a choice with content_filter_results, finish_reason null and no end mark',
    stream(
      { ...chunk({}), choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] },
      {
        ...chunk({}),
        choices: [{ index: 0, delta: { content: 'Done.' }, finish_reason: null, content_filter_results: {} }],
      },
    ),
    { text: 'Done.' },
  ),
  row(
    'Mistral',
    'docs.mistral.ai reasoning: content as a list of parts',
    'text and thinking parts, some chunks with a plain text',
    stream(
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
      chunk({ content: [{ type: 'text', text: 'Do' }] }),
      chunk({ content: 'ne.' }, 'stop'),
      DONE,
    ),
    { text: 'Done.' },
  ),
  row(
    'OpenRouter',
    'openrouter.ai docs: streaming, comments',
    'comments, reasoning_details, and the choice with another index',
    `: OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n${stream(
      {
        ...chunk({}),
        choices: [
          {
            index: 1,
            delta: {
              role: 'assistant',
              content: 'Done.',
              reasoning: 'Hm.',
              reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }],
            },
            finish_reason: null,
            native_finish_reason: null,
          },
        ],
      },
      {
        ...chunk({}),
        choices: [{ index: 1, delta: { content: '' }, finish_reason: 'stop', native_finish_reason: 'STOP' }],
      },
      DONE,
    )}`,
    { text: 'Done.' },
  ),
  row(
    'an old proxy',
    'platform.openai.com: function_call, deprecated',
    'function_call in a stream',
    stream(
      chunk({ role: 'assistant', content: null, function_call: { name: 'read_file', arguments: '' } }),
      chunk({ function_call: { arguments: '{"target_file":' } }),
      chunk({ function_call: { arguments: '"main.tf"}' } }),
      chunk({}, 'function_call'),
    ),
    { calls: [LOOK] },
  ),
]

const WHOLE = [
  row(
    'an old proxy',
    'platform.openai.com: function_call, deprecated',
    'function_call in a whole answer',
    whole({ content: null, ...{ function_call: { name: 'list_dir', arguments: '{}' } } }, 'function_call'),
    { calls: [LIST] },
  ),
  row(
    'vLLM',
    'vllm-project/vllm: tool_choice by name ends with stop',
    'calls that end with stop',
    whole({ content: '', tool_calls: [{ id: 'c1', type: 'function', ...called('list_dir', '{}') }] }, 'stop'),
    { calls: [LIST] },
  ),
  row('Ollama', 'prism-php/prism#360', 'an answer without an end', whole({ content: 'Done.' }, null), {
    text: 'Done.',
  }),
  row(
    'OpenVINO',
    'openvinotoolkit/model_server#3927',
    'tool_calls as the end, but none',
    whole({ content: 'Done.', tool_calls: [] }, 'tool_calls'),
    { text: 'Done.', finish: 'tool_use' },
  ),
  row(
    'SGLang',
    'sglang/srt/entrypoints/openai/protocol.py',
    'a word of its own for the end',
    whole({ content: 'Done.', tool_calls: null, reasoning_content: 'Hm.' }, 'matched_stop'),
    { text: 'Done.' },
  ),
  row(
    'TGI',
    'backends/v3/src/lib.rs ToolCall: id 0',
    'a number as id, twice the same',
    whole(
      {
        tool_calls: [
          { id: 0, type: 'function', ...called('read_file', { target_file: 'main.tf' }) },
          { id: 0, type: 'function', ...called('list_dir', {}) },
        ],
      },
      'tool_calls',
    ),
    { calls: [LOOK, LIST] },
  ),
  row(
    'LiteLLM',
    'BerriAI/litellm#17425',
    'an empty call beside a full one',
    whole(
      {
        tool_calls: [
          { id: 'a', type: 'function', ...called('list_dir', '{}') },
          { id: 'b', type: 'function', function: {} },
        ],
      },
      'tool_calls',
    ),
    { calls: [LIST] },
  ),
  row(
    'LM Studio',
    'lmstudio-ai docs: reasoning_content setting off',
    'thoughts in the text',
    whole({ content: '<think>\nThe user wants X.\n</think>\n\nDone.' }),
    { text: 'Done.' },
  ),
  row(
    'vLLM',
    'docs: reasoning outputs, without a reasoning parser',
    'thoughts whose opening tag is in the prompt',
    whole({ content: 'The user wants X.\n</think>\n\nDone.' }),
    { text: 'Done.' },
  ),
  row(
    'llama.cpp',
    'tools/server README: reasoning-format none',
    'thoughts of Magistral',
    whole({ content: '[THINK]Hm.[/THINK]Done.' }),
    { text: 'Done.' },
  ),
  row(
    'LM Studio',
    'openai/harmony: channels',
    'an answer in channels',
    whole({
      content: '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Done.<|return|>',
    }),
    { text: 'Done.' },
  ),
  row(
    'a server with a list of parts',
    'mistral-common: content chunks',
    'parts of text',
    whole({
      content: [
        { type: 'text', text: 'Do' },
        { type: 'text', text: 'ne.' },
      ],
    }),
    { text: 'Done.' },
  ),
  row(
    'Azure',
    'learn.microsoft.com: API Management, usage left out by a policy',
    'no usage, or one without numbers',
    whole({ content: 'Done.' }, 'stop', { usage: { prompt_tokens: 'n/a', total_tokens: null } }),
    { text: 'Done.' },
  ),
  row(
    'any',
    'SWE-agent: an end by length',
    'a call that ends by length',
    whole({ tool_calls: [{ id: 'a', ...called('list_dir', '{}') }] }, 'max_new_tokens'),
    { calls: [LIST], finish: 'max_tokens' },
  ),
]

const written = (server: string, source: string, holds: string, content: string, expected: Read) =>
  row(server, source, holds, whole({ content }), expected)

const WRITTEN = [
  written(
    'vLLM',
    'vllm/tool_parsers/hermes_tool_parser.py',
    'calls of Hermes and Qwen, with words before them',
    'I look.\n<tool_call>\n{"name": "read_file", "arguments": {"target_file":"main.tf"}}\n</tool_call>\n<tool_call>\n{"name": "list_dir", "arguments": {}}\n</tool_call>',
    { text: 'I look.', calls: [LOOK, LIST] },
  ),
  written(
    'vLLM',
    'hermes_tool_parser.py: the closing tag may be missing',
    'a call that is not closed',
    '<tool_call>\n{"name": "read_file", "arguments": {"target_file":"main.tf"}}',
    { calls: [LOOK] },
  ),
  written(
    'Ollama',
    'ollama/ollama#14277, tools/tools.go',
    'thoughts and a call',
    '<think>Hm.</think>\n<tool_call>{"name": "list_dir", "arguments": {}}</tool_call>',
    { calls: [LIST] },
  ),
  written(
    'vLLM',
    'vllm/tool_parsers/llama_tool_parser.py',
    'a call of Llama 3',
    '<|python_tag|>{"name": "read_file", "parameters": {"target_file":"main.tf"}}',
    { calls: [LOOK] },
  ),
  written(
    'llama.cpp',
    'common/chat.cpp: Llama 3.x without the tag',
    'a text that is a call, and another after a semicolon',
    '{"name": "read_file", "parameters": {"target_file":"main.tf"}}; {"name": "list_dir", "parameters": {}}',
    { calls: [LOOK, LIST] },
  ),
  written(
    'vLLM',
    'vllm/tool_parsers/mistral_tool_parser.py',
    'calls of Mistral',
    '[TOOL_CALLS][{"name": "read_file", "arguments": {"target_file":"main.tf"}, "id": "9Ae3bDc2F"}, {"name": "list_dir", "arguments": {}}]',
    { calls: [LOOK, LIST] },
  ),
  written(
    'vLLM',
    'mistral_tool_parser.py: from version 11 of the tokenizer',
    'calls of Mistral, each with its name before it',
    '[TOOL_CALLS]read_file[ARGS]{"target_file":"main.tf"}[TOOL_CALLS]list_dir[CALL_ID]9Ae3bDc2F[ARGS]{}',
    { calls: [LOOK, LIST] },
  ),
  written(
    'SGLang',
    'sglang/srt/function_call/deepseekv3_detector.py',
    'calls of DeepSeek',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n{"target_file":"main.tf"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { calls: [LOOK] },
  ),
  written(
    'SGLang',
    'sglang/srt/function_call/kimik2_detector.py',
    'calls of Kimi',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"target_file":"main.tf"}<|tool_call_end|><|tool_calls_section_end|>',
    { calls: [LOOK] },
  ),
  written(
    'vLLM',
    'vllm/tool_parsers/qwen3coder_tool_parser.py',
    'calls with a tag for each argument',
    '<tool_call>\n<function=read_file>\n<parameter=target_file>\n12.tf\n</parameter>\n<parameter=lines>\n5\n</parameter>\n</function>\n</tool_call>',
    { calls: [['read_file', '{"target_file":"12.tf","lines":5}']] },
  ),
  written(
    'SGLang',
    'sglang/srt/function_call/glm4_moe_detector.py',
    'calls with a pair of tags for each argument',
    '<tool_call>report\n<arg_key>done</arg_key>\n<arg_value>true</arg_value>\n</tool_call>',
    { calls: [['report', '{"done":true}']] },
  ),
  written(
    'llama.cpp',
    'common/chat.cpp: functionary',
    'calls with the name in the tag',
    '<function=read_file>{"target_file":"main.tf"}</function>',
    { calls: [LOOK] },
  ),
  written(
    'vLLM',
    'vllm/tool_parsers/phi4mini_tool_parser.py',
    'calls of Phi',
    'functools[{"name": "list_dir", "arguments": {}}]',
    { calls: [LIST] },
  ),
  written(
    'LM Studio',
    'openai/harmony: the commentary channel',
    'a call in a channel',
    '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"target_file":"main.tf"}<|call|>',
    { calls: [LOOK] },
  ),
  written(
    'LocalAI',
    'a code fence around the whole text',
    'a call in a code fence',
    '```json\n{"name": "list_dir", "arguments": {}}\n```',
    { calls: [LIST] },
  ),
  written(
    'any',
    'a call within prose is an example',
    'JSON in the midst of a text',
    'Call it as {"name": "list_dir", "arguments": {}} when ready.',
    { text: 'Call it as {"name": "list_dir", "arguments": {}} when ready.' },
  ),
  written(
    'any',
    'JSON that names no offered tool is a text',
    'an answer in JSON',
    '{"name": "bucket", "arguments": {}}',
    { text: '{"name": "bucket", "arguments": {}}' },
  ),
  written(
    'any',
    'a broken call is answered with what is wrong',
    'a call that was cut off',
    '<tool_call>\n{"name": "read_file", "arguments": {"target_file":"ma',
    { calls: [['read_file', '{"target_file":"ma']] },
  ),
  written(
    'any',
    'a tool that is not offered is answered with the tools',
    'a marked call of an unknown tool',
    '<tool_call>{"name": "delete_all", "arguments": {}}</tool_call>',
    { calls: [['delete_all', '{}']] },
  ),
]

const argued = (source: string, holds: string, args: unknown, read: string) =>
  row(
    'any',
    source,
    holds,
    whole({ tool_calls: [{ id: 'c', type: 'function', ...called('read_file', args) }] }, 'tool_calls'),
    { calls: [['read_file', read]] },
  )

const ARGUMENTS = [
  argued(
    'huggingface/smolagents PR 1003',
    'arguments as JSON in a JSON text',
    '"{\\"target_file\\":\\"main.tf\\"}"',
    '{"target_file":"main.tf"}',
  ),
  argued('SGLang', 'arguments in a code fence', '```json\n{"target_file":"main.tf"}\n```', '{"target_file":"main.tf"}'),
  argued(
    'BerriAI/litellm: Messages as chat',
    'an empty object before the arguments',
    '{}{"target_file":"main.tf"}',
    '{"target_file":"main.tf"}',
  ),
  argued('any', 'arguments with a comma too many', '{"target_file":"main.tf",}', '{"target_file":"main.tf",}'),
  argued('any', 'arguments in single quotes', "{'target_file': 'main.tf'}", "{'target_file': 'main.tf'}"),
]

export const SERVER_ANSWERS = [...STREAMS, ...WHOLE, ...WRITTEN, ...ARGUMENTS]

interface Refused {
  reason: string
  attempts: number
}
const refused = (
  server: string,
  source: string,
  holds: string,
  answer: object | string,
  reason: string,
  attempts = 4,
): Row<Refused> => ({
  ...{ server, source, holds, answer },
  expected: { reason, attempts },
})

const BEGUN = chunk({ role: 'assistant', content: 'Half' })

export const SERVER_FAILURES = [
  refused(
    'vLLM',
    'vllm-project/guidellm#743, create_streaming_error_response',
    'an error in the midst of a stream',
    stream(BEGUN, { error: { message: 'EngineCore died', type: 'InternalServerError', param: null, code: 500 } }, DONE),
    'EngineCore died',
  ),
  refused(
    'vLLM before 0.10',
    'entrypoints/openai/protocol.py ErrorResponse',
    'an error that is an object of its own',
    stream(
      BEGUN,
      { object: 'error', message: 'EngineDeadError', type: 'InternalServerError', param: null, code: 500 },
      DONE,
    ),
    'EngineDeadError',
  ),
  refused(
    'TGI',
    'router/src/server.rs: error_type',
    'an error as a text',
    stream(BEGUN, { error: 'Request failed during generation: out of memory', error_type: 'generation' }),
    'out of memory',
  ),
  refused(
    'Ollama',
    'middleware/openai.go writeError: a line without a field',
    'an error as a bare line',
    `${stream(BEGUN)}{"error":{"message":"an error was encountered while running the model","type":"api_error","param":null,"code":null}}\n`,
    'an error was encountered',
  ),
  refused(
    'llama.cpp before b6000',
    'tools/server/utils.hpp server_sent_event',
    'an error as a field of its own',
    `${stream(BEGUN)}error: {"code":500,"message":"Context size has been exceeded.","type":"server_error"}\n\n`,
    'Context size has been exceeded.',
  ),
  refused(
    'SGLang',
    'serving_chat.py create_streaming_error_response',
    'a limit in the midst of a stream',
    stream(
      BEGUN,
      { error: { object: 'error', message: 'The request queue is full.', type: 'ServiceUnavailable', code: 503 } },
      DONE,
    ),
    'queue is full',
  ),
  refused(
    'OpenRouter',
    'openrouter.ai docs: errors in a stream',
    'an error beside a choice',
    stream(BEGUN, {
      ...chunk({}),
      error: { code: 'server_error', message: 'Provider disconnected' },
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    }),
    'Provider disconnected',
  ),
  refused(
    'LiteLLM',
    'litellm/proxy/common_request_processing.py',
    'an error with its code as a text',
    stream(BEGUN, {
      error: { message: 'litellm.InternalServerError: upstream', type: null, param: null, code: '500' },
    }),
    'litellm.InternalServerError',
  ),
  refused(
    'LiteLLM',
    'litellm/proxy/common_request_processing.py',
    'a refusal in a stream is final',
    stream(BEGUN, {
      error: { message: 'litellm.BadRequestError: no such model', type: null, param: null, code: '400' },
    }),
    'no such model',
    1,
  ),
  refused(
    'SGLang',
    'sglang/srt/managers/schedule_batch.py FINISH_ABORT',
    'an answer that was given up',
    whole({ content: 'Half' }, 'abort'),
    'the answer was interrupted (abort)',
  ),
  refused(
    'any',
    'a stream of nothing',
    'chunks without a choice',
    stream({ ...chunk({}), choices: [] }, DONE),
    'the answer is not a chat completion',
  ),
  refused(
    'any',
    'a call without its name',
    'arguments of nothing',
    whole({ tool_calls: [{ id: 'a', ...called('', '{"a":1}') }] }, 'tool_calls'),
    'called a tool without its name',
  ),
]
