# frozen_string_literal: true

require "json"
require_relative "../../../support/web_program"

# The engines that people know beside ERB: the same page in each.
class WebSlimAndHamlTest < PeltonTest
  include WebProgram

  self.deadline = 60

  FILES = {
    "slim" => {
      "layouts/application.html.slim" => "html\n  head\n    title = yield :title\n  body\n    == yield\n",
      "pages/page.html.slim" => <<~'SLIM',
        - content_for :title, "A & B"
        p class=@text title="x#{@text}" = @text
        p text #{@text} #{link_to("a&b", "/x")}
        == "<b>raw</b>"
        = link_to("c&d", "/y")
        = form_with(url: "/posts") do |form|
          i
            | in #{@text}
        - cache [:key, @text] do
          u
            | kept #{@text}
        - 2.times do |number|
          s = number
        = render "item", item: @text
        == render partial: "item", collection: ["<1>", "<2>"]
        = 7
      SLIM
      "pages/_item.html.slim" => "li = item\n",
      "pages/mail.txt.slim" => "| to \#{@text}\n= @text\n"
    },
    "haml" => {
      "layouts/application.html.haml" => "%html\n  %head\n    %title= yield :title\n  %body\n    != yield\n",
      "pages/page.html.haml" => <<~'HAML',
        - content_for :title, "A & B"
        %p{class: @text, title: "x#{@text}"}= @text
        %p text #{@text} #{link_to("a&b", "/x")}
        != "<b>raw</b>"
        = link_to("c&d", "/y")
        = form_with(url: "/posts") do |form|
          %i
            in
            = @text
        - cache [:key, @text] do
          %u
            kept
            = @text
        - 2.times do |number|
          %s= number
        = render "item", item: @text
        != render partial: "item", collection: ["<1>", "<2>"]
        = 7
      HAML
      "pages/_item.html.haml" => "%li= item\n",
      "pages/mail.txt.haml" => "to \#{@text}\n= @text\n"
    }
  }.freeze

  PROGRAM = <<~'RUBY'
    require "pelton/web/test"
    require ARGV.first

    class PagesController < Pelton::Web::Controller
      before_action { @text = "<i & \"j\">" }
      def show = render("page")
      def mail = render("mail", format: "txt")
      def streamed = render("page", stream: true)
    end

    class Shop < Pelton::Web::Application
      settings.environment = "test"
      settings.views = [Dir.pwd]
      routes { %w[show mail streamed].each { |action| get "/#{action}", to: "pages##{action}" } }
    end

    client = Object.new.extend(Pelton::Web::Test)
    def client.app = Shop
    %w[show show mail streamed].each do |path|
      client.get("/#{path}")
      puts JSON.generate(client.response.body.gsub(/\s*\n\s*/, ""))
    end
  RUBY

  FILES.each do |engine, files|
    define_method(:"test_#{engine}") do
      first, again, mail, streamed = web_output(PROGRAM.sub("ARGV.first", engine.inspect),
        files: files).lines.map { |line| JSON.parse(line) }
      text = "&lt;i &amp; &quot;j&quot;&gt;"
      unquoted = first.tr("'", '"')

      assert_includes unquoted, "<title>A &amp; B</title>"
      assert_match(/<p class="#{text}" title="x#{text}">#{text}</, unquoted)
      assert_includes unquoted, "<p>text #{text} <a href=\"/x\">a&amp;b</a></p><b>raw</b><a href=\"/y\">c&amp;d</a>"
      expected =
        /<form action="\/posts" method="post"[^>]*>.*<i>in ?#{text}<\/i><\/form><u>kept ?#{text}<\/u><s>0<\/s><s>1<\/s>/
      assert_match expected, unquoted
      assert_match(/<li>#{text}<\/li><li>&lt;1&gt;<\/li><li>&lt;2&gt;<\/li>7<\/body>/, unquoted)
      assert_equal first, again
      assert_equal "to <i & \"j\"><i & \"j\">", mail
      assert_includes streamed, text
    end
  end
end
