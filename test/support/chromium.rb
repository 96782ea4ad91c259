# frozen_string_literal: true

require "io/nonblock"
require "json"
require "tmpdir"

# A headless Chromium, controlled by its DevTools protocol through two pipes. Its windows may have any width.
class Chromium
  class Failed < StandardError
  end

  KEYS = {"Tab" => 9, "Enter" => 13, "Escape" => 27, " " => 32, "ArrowUp" => 38, "ArrowDown" => 40}.freeze
  private_constant :KEYS

  def self.path
    ENV["PATH"].split(File::PATH_SEPARATOR).map { |folder| File.join(folder, "chromium") }.find do |file|
      File.executable?(file)
    end
  end

  # @yieldparam chromium [Chromium] with one page
  def self.open
    browser = new
    yield browser
  ensure
    browser&.close
  end

  # The warnings and errors on the console since the page was opened, exceptions among them.
  #
  # @return [Array<String>]
  attr_reader :complaints

  # The dialogs that were opened, and accepted: "alert", "confirm", "prompt" or "beforeunload".
  #
  # @return [Array<String>]
  attr_reader :dialogs

  def initialize
    @dialogs = []
    @folder = Dir.mktmpdir
    input, @output = IO.pipe
    @input, output = IO.pipe(Encoding::UTF_8)
    [input, output].each { |io| io.nonblock = false } # Chromium needs blocking pipes
    @pid = Process.spawn(Chromium.path, "--headless", "--no-sandbox", "--disable-gpu",
      "--disable-background-networking",
      "--remote-debugging-pipe", "--user-data-dir=#{@folder}", "about:blank", 3 => input, 4 => output,
      :err => File::NULL, :pgroup => true)
    Guard.kill_at_end(@pid)
    [input, output].each(&:close)
    @number = 0
    @complaints = []
    @events = []
    target = call("Target.createTarget", url: "about:blank").fetch("targetId")
    @session = call("Target.attachToTarget", targetId: target, flatten: true).fetch("sessionId")
    %w[Page Runtime Log].each { |domain| call("#{domain}.enable") }
    call("Emulation.setFocusEmulationEnabled", enabled: true)
  end

  # @param width [Integer] of the window; narrow ones are phones
  def look(width: 1280, height: 900, dark: false)
    call("Emulation.setDeviceMetricsOverride", width: width, height: height, deviceScaleFactor: 1, mobile: width < 600)
    call("Emulation.setEmulatedMedia", features: [{name: "prefers-color-scheme", value: dark ? "dark" : "light"}])
  end

  # Opens a page, and returns when it is loaded.
  def visit(url)
    @complaints.clear
    @events.clear
    error = call("Page.navigate", url: url)["errorText"]
    raise Failed, "#{url}: #{error}" if error
    receive until @events.include?("Page.loadEventFired")
  end

  # @return the value of a JavaScript expression, or of the promise that it makes
  def evaluate(expression)
    answer = call("Runtime.evaluate", expression: expression, returnByValue: true, awaitPromise: true,
      userGesture: true)
    raise Failed, answer.dig("exceptionDetails", "exception", "description") if answer["exceptionDetails"]
    answer.dig("result", "value")
  end

  # @param keys [String] the text that is typed into the focused element
  def type(keys) = call("Input.insertText", text: keys)

  # Presses a key, as "Enter", "ArrowUp" or "a".
  def press(key, shift: false)
    code = KEYS.fetch(key, 0)
    text = {"Enter" => "\r", " " => " "}[key]
    keys = {key: key, code: key, windowsVirtualKeyCode: code, modifiers: shift ? 8 : 0}
    call("Input.dispatchKeyEvent", type: text ? "keyDown" : "rawKeyDown", **keys, **{text: text}.compact)
    call("Input.dispatchKeyEvent", type: "keyUp", **keys)
  end

  # The network is away, or back.
  def offline(away)
    call("Network.enable")
    call("Network.emulateNetworkConditions", offline: away, latency: 0, downloadThroughput: -1, uploadThroughput: -1)
  end

  # @return [Array<Array(String, String)>] role and name of each element that assistive technology shows
  def accessible_nodes
    nodes = call("Accessibility.getFullAXTree").fetch("nodes").reject { |node| node["ignored"] }
    nodes.map { |node| [node.dig("role", "value").to_s, node.dig("name", "value").to_s.strip] }
  end

  # Certificates of whatever authority are accepted.
  def trust_all = call("Security.setIgnoreCertificateErrors", ignore: true)

  # Pages that are opened from now on run no scripts of their own.
  def without_scripts = call("Emulation.setScriptExecutionDisabled", value: true)

  # Runs a script in each page that is opened from now on, before those of the page.
  def prepare(script) = call("Page.addScriptToEvaluateOnNewDocument", source: script)

  # Writes a picture of the window.
  def picture(path) = File.binwrite(path, call("Page.captureScreenshot", format: "png").fetch("data").unpack1("m"))

  def close
    Process.kill("KILL", -@pid)
    Process.wait(@pid)
  ensure
    [@input, @output].each(&:close)
    FileUtils.rm_rf(@folder)
  end

  private

  def call(method, **params)
    number = @number += 1
    message = {id: number, method: method, params: params}
    message[:sessionId] = @session if @session
    @output.write("#{JSON.generate(message)}\0")
    answer = receive until answer && answer["id"] == number
    raise Failed, "#{method}: #{answer["error"]}" if answer["error"]
    answer.fetch("result")
  end

  def receive
    text = @input.gets("\0", chomp: true) or raise Failed, "Chromium has ended"
    message = JSON.parse(text)
    accept(message["params"]) if message["method"] == "Page.javascriptDialogOpening"
    complain(message["params"]) if message["method"]
    @events << message["method"] if message["method"]
    message
  end

  # Nobody waits for the answer.
  def accept(dialog)
    @dialogs << dialog.fetch("type")
    message = {id: @number += 1, method: "Page.handleJavaScriptDialog", params: {accept: true}, sessionId: @session}
    @output.write("#{JSON.generate(message)}\0")
  end

  def complain(said)
    entry = said["entry"]
    if entry && entry["level"] != "info"
      @complaints << "#{entry["level"]}: #{entry["text"]} #{entry["url"]}"
    end
    @complaints << said.dig("exceptionDetails", "exception", "description").to_s if said["exceptionDetails"]
    if %w[error warning assert].include?(said["type"]) && said["args"]
      @complaints << "#{said["type"]}: #{said["args"].map { |one| one["value"] }.join(" ")}"
    end
  end
end
