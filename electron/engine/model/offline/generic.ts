import { offeredCall } from './substitute.ts';
import type { Plan } from './player.ts';
import type { Turn } from './turns.ts';

/**
 * The answer to a prompt that no scenario knows: looks into the workspace once, when a tool for that is offered, and then
 * says plainly that a scripted model cannot do the task.
 */
export function playGeneric(prompt: string, turns: readonly Turn[], offered: ReadonlySet<string>): Plan {
  const isChinese = /[\u3400-\u9fff]/.test(prompt);
  const look = offered.has('terminal')
    ? offeredCall('terminal', { command: 'ls -la' }, offered)
    : offeredCall('search_files', { pattern: '*', target: 'files' }, offered);
  if (turns.length === 0 && look !== null) {
    const think = isChinese
      ? '这个问题不在演示脚本里，我没法真正解答。至少先看一眼工作目录，再如实说明情况。'
      : 'This prompt is not one of the demo scenarios, so I cannot really solve it. I can at least look into the workspace and then say plainly where things stand.';
    return { think, say: '', calls: [look] };
  }
  const seen = turns.at(-1)?.results.replace(/^(exit_code=0|error=null)$/gm, '').trim() ?? '';
  return isChinese ? chineseAnswer(seen) : englishAnswer(seen);
}

function englishAnswer(seen: string): Plan {
  const found = seen === '' ? '' : `\n\nThis is what I found in the workspace:\n\n\`\`\`\n${clip(seen)}\n\`\`\``;
  const who = 'I am the scripted demo model `offline/demo`. I only play prepared scenarios for the bundled demo prompts, and this is not one of them, so I have not solved it.';
  const advice = 'For a real answer, choose a provider and a model in Settings and run this prompt again.';
  return { think: 'I am a scripted model. Pretending to have an answer would be worse than none.', say: `${who}${found}\n\n${advice}`, calls: [] };
}

function chineseAnswer(seen: string): Plan {
  const found = seen === '' ? '' : `\n\n工作目录里有这些内容：\n\n\`\`\`\n${clip(seen)}\n\`\`\``;
  const who = '我是脚本演示模型 `offline/demo`，只会演示内置示例的预设流程。这个问题不在其中，所以我没有解答它。';
  const advice = '想得到真正的回答，请在设置里选择服务商和模型，再运行一次。';
  return { think: '我只是按脚本演示的模型，与其编造答案，不如直接说明。', say: `${who}${found}\n\n${advice}`, calls: [] };
}

function clip(text: string): string {
  const lines = text.replaceAll('```', "'''").split('\n');
  return lines.length > 20 ? [...lines.slice(0, 20), '…'].join('\n') : lines.join('\n');
}
