// Chromium without a window, led through pages; prints one JSON line.
//
// node browser.mjs STEPS [COOKIES]
//
// STEPS is a JSON list of {"open": URL}, {"fill": {SELECTOR: TEXT}}, {"click": SELECTOR}, {"shot": PREFIX}; one step may
// have several of them. COOKIES is a file: with it, the browser is the same as in the last run. What is printed has
//
//     pages      where each step led to: its URL, its visible text, and whether it is too wide for a small phone
//     visited    the URLs of all pages asked for, those of redirects too
//     errors     what pages logged as errors, and what went wrong in their scripts
//     elsewhere  URLs that were asked for on other machines: nothing is fetched from there

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.PEERS}/package.json`);
const { default: chromium } = await import(pathToFileURL(require.resolve('@sparticuz/chromium')).href);
const [steps, cookies] = process.argv.slice(2);
const report = { pages: [], visited: [], errors: [], elsewhere: [] };
const LARGE = { width: 900, height: 700 };
const SMALL = { width: 360, height: 700 };
const isElsewhere = (url) => /^https?:$/.test(url.protocol) && url.hostname !== '127.0.0.1';

async function opened(browser) {
    const known = cookies && existsSync(cookies) ? cookies : undefined;
    const context = await browser.newContext({ viewport: LARGE, storageState: known });
    context.setDefaultTimeout(10_000);
    await context.route(isElsewhere, (route) => {
        report.elsewhere.push(route.request().url());
        return route.abort();
    });
    const page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && report.errors.push(message.text()));
    page.on('pageerror', (error) => report.errors.push(String(error)));
    page.on('request', (request) => request.isNavigationRequest() && report.visited.push(request.url()));
    return page;
}

async function take(page, step) {
    if (step.open) await page.goto(step.open);
    for (const [selector, text] of Object.entries(step.fill ?? {})) await page.fill(selector, text);
    if (step.click) await Promise.all([page.waitForNavigation(), page.click(step.click)]);
    if (step.shot) await shoot(page, step.shot);
    await page.setViewportSize({ width: 320, height: 700 });
    const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    await page.setViewportSize(LARGE);
    report.pages.push({ url: page.url(), text: await page.innerText('body'), isWide });
}

async function shoot(page, prefix) {
    for (const size of [LARGE, SMALL]) {
        for (const colorScheme of ['light', 'dark']) {
            await page.emulateMedia({ colorScheme });
            await page.setViewportSize(size);
            await page.screenshot({ path: `${prefix}-${size.width}-${colorScheme}.png`, fullPage: true });
        }
    }
}

const browser = await require('playwright-core').chromium.launch({
    executablePath: await chromium.executablePath(),
    args: ['--no-sandbox', '--disable-gpu'],  // and not those of the package, which switch web security off
});
try {
    const page = await opened(browser);
    for (const step of JSON.parse(steps)) await take(page, step);
    if (cookies) await page.context().storageState({ path: cookies });
} catch (error) {
    console.error(error, report);
    process.exitCode = 1;
} finally {
    await browser.close();
}
console.log(JSON.stringify(report));
