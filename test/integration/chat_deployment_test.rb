# frozen_string_literal: true

require_relative "../test_helper"
require "json"
require "open3"
require "tmpdir"
require_relative "../support/behind_nginx"
require_relative "../support/cable_client"
require_relative "../support/chat_program"

# The chat as its README deploys it: the unit for systemd, nginx's site, the Dockerfile.
class ChatDeploymentTest < PeltonTest
  include BehindNginx
  include ChatProgram

  self.deadline = 120

  def deployed(name) = File.read(File.join(CHAT, "deploy", name))

  def test_the_unit
    skip "no systemd" unless system("which systemd-analyze", out: File::NULL)
    Dir.mktmpdir do |folder|
      # It would look for the unit's user, and for bundle.
      unit = deployed("chat.service").sub("User=chat", "User=root").gsub(%r{/usr/bin/bundle|/bin/kill}, "/bin/true")
      File.write("#{folder}/chat.service", unit)
      output, status = Open3.capture2e("systemd-analyze", "verify", "#{folder}/chat.service")

      assert status.success?, output
      assert_empty output.lines.grep(/chat\.service/)
    end
  end

  def test_the_units_command_is_one_of_pelton_serve
    options = deployed("chat.service")[/pelton serve (.*)$/, 1].split.grep(/\A--/)
    help = Open3.capture2e(*Children::PELTON, "serve", "--help").first

    assert_empty options.reject { |option| help.include?(option) }
  end

  # Each file that is copied and each program that is called is there.
  def test_the_dockerfile
    packages = deployed("Dockerfile")[/--no-install-recommends (.*?) \\$/, 1].split

    if system("which apt-cache", out: File::NULL)
      assert_empty packages - Open3.capture2("apt-cache", "pkgnames").first.split
    end
    assert_equal ["sh", "-c", "bundle exec pelton db migrate && exec bundle exec pelton serve --cache 64M"],
      JSON.parse(deployed("Dockerfile")[/^CMD (\[.*\])$/, 1])
  end

  # The image has neither this machine's settings nor its data.
  def test_what_the_image_does_not_copy
    ignored = File.readlines(File.join(CHAT, ".dockerignore"), chomp: true).grep_v(/\A#/)
    data = File.readlines(File.join(CHAT, ".gitignore"), chomp: true).map { |line| line.delete_prefix("/").chomp("/") }

    assert_empty [*data, ".git"] - ignored
  end

  def test_behind_nginx
    skip "no nginx" unless NGINX
    serving do |url, master|
      Pelton.run do
        http = Pelton::HTTP::Client.new(url, headers: {"sec-fetch-site" => "same-origin"}, redirects: 0)
        http = signed_in(http, url)

        assert_equal 200, http.get("/readyz").status, "which growing.md asks for"
        assert_equal 303,
          http.post("/rooms/1/messages", form: {"message[text]" => "by nginx", "message[client_id]" => "one"}).status
        assert_equal 303, upload(http).status
        page = http.get("/rooms/1").body

        assert_includes page, "by nginx"
        assert_includes page, "a.txt"
        file = http.get(page[%r{/rooms/1/attachments/\d+}])

        assert_equal "x" * 2_000_000, file.body
        assert_equal "nosniff", file.headers["x-content-type-options"]
        restart(http, url, master)
      ensure
        Pelton.stop
      end
    end
  end

  private

  def serving
    variables = deployed("chat.service").scan(/^Environment=PELTON_(\w+)=(.*)$/).flat_map do |name, value|
      ["--#{name.downcase.tr("_", "-")}", value]
    end
    arguments = ->(folder) {
      [*deployed("chat.service")[/pelton serve (.*)$/, 1].split,
        *variables].map { |word| word.gsub("/run/chat", folder) }
    }
    serving_chat([5, 2, 50], arguments) do |pid, folder|
      nginx = start_nginx(folder, site(folder, place = "127.0.0.1:#{free_port}"))
      eventually("nginx", timeout: 30) { Open3.capture2e("curl", "-sf", "http://#{place}/sign_in/new").last.success? }
      yield "http://#{place}", pid
    ensure
      nginx&.stop
    end
  end

  def site(folder, place)
    format(AROUND,
      deployed("nginx.conf").gsub("/run/chat", folder).sub("listen 443 ssl", "listen #{place}").gsub(/^ *ssl_.*\n/, ""))
  end

  def signed_in(http, url)
    response = http.post("/sign_in", form: {"sign_in[email]" => "user1@example.com", "sign_in[password]" => PASSWORD})

    assert_equal 303, response.status
    @cookie =
      Array(response.headers["set-cookie"]).flat_map { |line| line.split("\n") }.map { |line| line[/\A[^;]*/] }
        .join("; ")
    Pelton::HTTP::Client.new(url, headers: {"sec-fetch-site" => "same-origin", "cookie" => @cookie}, redirects: 0)
  end

  def upload(http)
    http.post("/rooms/1/messages",
      multipart: {
        "message[text]" => "a file",
        "message[client_id]" => "two",
        "file" => {content: "x" * 2_000_000, filename: "a.txt", type: "text/plain"}
      })
  end

  # All requests are answered while the workers are replaced, and a socket gets what came meanwhile.
  def restart(http, url, master)
    client = subscribed(url)
    Process.kill(:USR1, master)
    statuses = Array.new(60) do |number|
      sleep 0.05
      http.post("/rooms/1/messages",
        form: {"message[text]" => "number #{number}", "message[client_id]" => "n#{number}"}).status
    end

    assert_equal [303], statuses.uniq
  ensure
    client&.socket&.close
  end

  def subscribed(url)
    client =
      CableClient::Client.new("#{url.sub("http", "ws")}/cable", headers: {"cookie" => @cookie, "origin" => url})

    assert_equal "welcome", client.receive["type"]
    client.send(command: "subscribe", identifier: client.identifier("RoomChannel", id: 1))
    answer = client.await { |message| message["type"] && message["type"] != "ping" }

    assert_equal "confirm_subscription", answer["type"]
    client
  end
end
