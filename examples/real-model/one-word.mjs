// The reward of both tasks: 1 for the right word and nothing else, apart from case and a full stop.
export default (answer, task) =>
  answer.trim().replace(/\.$/, '').toLowerCase() === task.messages.at(-1).content ? 1 : 0;
