# frozen_string_literal: true

# What a session, a token and the check of a request's origin cost: CPU time in microseconds, medians of interleaved rounds.
#
#     bundle exec ruby -Ilib -Ipelton-web/lib benchmark/web_session.rb [ROUNDS]

require "pelton/web"

COUNT = 3000
SECRETS = Pelton::Web::Secrets.new(["s" * 64])
FORGERY = Pelton::Web::Forgery
VALUES = {"user" => 7, "name" => "Ada", "cart" => Array.new(5) { |id| {"id" => id, "count" => 2} }, "csrf" => "x" * 44}.freeze
TEXT = JSON.generate(VALUES)
TOKEN = SECRETS.encrypt(TEXT, purpose: "session", expires_at: Time.now + 86_400)
POST = {"REQUEST_METHOD" => "POST", "rack.url_scheme" => "https", "HTTP_HOST" => "shop.example"}.freeze
FETCH = POST.merge("HTTP_SEC_FETCH_SITE" => "same-origin").freeze
ORIGIN = POST.merge("HTTP_ORIGIN" => "https://shop.example").freeze
SESSION = {}
MASKED = FORGERY.token(SESSION)

def session = Pelton::Web::Session.new(TOKEN, secrets: SECRETS, lifetime: 86_400)

WORK = {
  "encrypt #{TEXT.bytesize} bytes" => -> { SECRETS.encrypt(TEXT, purpose: "session") },
  "decrypt them" => -> { SECRETS.decrypt(TOKEN, purpose: "session") },
  "a session: read a number" => -> { session.tap { |one| one["user"] }.commit },
  "a session: read an array" => -> { session.tap { |one| one["cart"] }.commit },
  "a session: change it" => -> { session.tap { |one| one["user"] += 1 }.commit },
  "judge by Sec-Fetch-Site" => -> { FORGERY.judge(FETCH) },
  "judge by Origin" => -> { FORGERY.judge(ORIGIN) },
  "make a masked token" => -> { FORGERY.token(SESSION) },
  "check a masked token" => -> { FORGERY.token?(MASKED, SESSION) }
}.freeze

abort "the session is not what it was" unless session.to_h == VALUES
abort "the check is wrong" unless FORGERY.judge(FETCH) == :own && FORGERY.judge(ORIGIN) == :own && FORGERY.token?(MASKED, SESSION)

def cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

times = Hash.new { |all, name| all[name] = [] }
(ARGV.first || 9).to_i.times do
  WORK.each do |name, work|
    began = cpu
    COUNT.times { work.call }
    times[name] << (cpu - began) / COUNT * 1e6
  end
end
times.each { |name, all| puts format("%-26s %6.1f us  (%.1f-%.1f)", name, all.sort[all.size / 2], *all.minmax) }
