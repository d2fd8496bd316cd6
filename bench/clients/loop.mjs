// The loop every TypeScript client runs, and how it reports: one JSON line with a sample per level of concurrency.
export const options = Object.fromEntries(
    process.argv.slice(2).map(option => {
        const [name, ...rest] = option.replace('--', '').split('=');
        return [name, rest.join('=')];
    })
);

const seconds = () => Number(process.hrtime.bigint()) / 1e9;

async function measure(call, atOnce, length) {
    const took = [];
    const before = process.cpuUsage();
    const began = seconds();
    const worker = async () => {
        let now = seconds();
        while (now < began + length) {
            await call();
            const then = now;
            now = seconds();
            took.push(now - then);
        }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    const wall = seconds() - began;
    const used = process.cpuUsage(before);
    took.sort((a, b) => a - b);
    return {
        'CPU us/call': (used.user + used.system) / took.length,
        'calls/s': took.length / wall,
        'p50 us': took[Math.floor(took.length / 2)] * 1e6,
        'RSS MB': process.memoryUsage.rss() / 1e6
    };
}

export async function report(call) {
    const text = await call();
    if (text !== '5') throw new Error(`wrong answer: ${text}`);
    await measure(call, 8, 0.3);
    const samples = [];
    for (const level of options['at-once'].split(',')) samples.push(await measure(call, Number(level), Number(options.seconds)));
    console.log(JSON.stringify(samples));
}
