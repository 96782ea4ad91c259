# frozen_string_literal: true

# What the router must do, written as slowly and plainly as the guide says it (docs/guides/web_routes.md): all routes
# are matched, and those that match are sorted. It shares no code with the router.
class RouteModel
  # `guard` is whether the route takes the request.
  Route = Struct.new(:verb, :path, :constraints, :guard, keyword_init: true)

  # A path without optional parts: `segments` of literal texts and [:variable or :splat, name]; `format` is whether its
  # ending is one.
  Form = Struct.new(:segments, :format)

  Match = Struct.new(:key, :route, :captures)

  Malformed = Class.new(StandardError)

  LITERAL, PARTLY, VARIABLE, PARTLY_SPLAT, SPLAT = 0, 1, 2, 3, 4
  FORM_VERBS = %w[PUT PATCH DELETE].freeze

  def initialize(routes)
    @routes = routes.map { |route| [route, forms(route.path)] }
  end

  # @param named [String, nil] the verb that a form names
  # @return [Array] [:route, its number, captures], [:status, 400 or 404], [:allow, verbs]
  def answer(verb, path, named: nil)
    matches = matches(path)
    verb = named if verb == "POST" && FORM_VERBS.include?(named) && names?(matches)
    found =
      matches.filter_map { |match| rank(match.route.verb, verb)&.then { |rank| [insert(match.key, rank), match] } }
        .sort_by(&:first).map(&:last)
    chosen = found.find { |match| match.route.guard }
    return [:route, @routes.index { |route, _| route.equal?(chosen.route) }, chosen.captures] if chosen
    allowed = matches.map { |match| match.route.verb }.compact.uniq
    allowed |= ["HEAD"] if allowed.include?("GET")
    (allowed.empty? || allowed.include?(verb)) ? [:status, 404] : [:allow, allowed.sort]
  rescue Malformed
    [:status, 400]
  end

  private

  def names?(matches)
    verbs = matches.map { |match| match.route.verb }
    (verbs & FORM_VERBS).any? || verbs.include?("POST") && verbs.include?(nil)
  end

  # A verb's own routes go first, then GET's for HEAD, then those for all verbs.
  def rank(verb, asked)
    return 2 if verb.nil?
    return 0 if verb == asked
    1 if asked == "HEAD" && verb == "GET"
  end

  # The verb counts after the path, and before the order of the declarations.
  def insert(key, rank) = [*key[0...-2], rank, *key.last(2)]

  def matches(path)
    segments = segments(path)
    @routes.each_with_index.flat_map do |(route, forms), number|
      forms.each_with_index.filter_map do |form, index|
        captures, key = match(form, segments, route.constraints)
        Match.new([*key, number, index], route, captures) if captures
      end
    end
  end

  def segments(path)
    path = "/" if path.empty?
    raise Malformed unless path.start_with?("/")
    return [] if path == "/"
    path.delete_suffix("/").split("/", -1).drop(1).map { |segment| decoded(segment) }
  end

  def decoded(text)
    raise Malformed if text.match?(/%(?!\h\h)/)
    text = text.b.gsub(/%(\h\h)/) { $1.hex.chr }.force_encoding("UTF-8")
    raise Malformed unless text.valid_encoding? && !text.match?(/[\0-\x1f\x7f]/)
    text
  end

  # @return [Array(Hash, Array), nil] the values of the variables, and what the form is compared by
  def match(form, segments, constraints)
    return whole(form, segments, constraints, 3) unless form.format
    stem, dot, format = segments.last.to_s.rpartition(".")
    return if dot.empty? || stem.empty? || format.empty? || format.include?("/")
    return if constraints[:format] && !matches_whole?(constraints[:format], format)
    captures, key = whole(form, [*segments[0...-1], stem], constraints, constraints[:format] ? 1 : 2)
    [captures.merge("format" => format), key] if captures
  end

  def matches_whole?(constraint, text) = text.match?(/\A(?:#{constraint})\z/m)

  # Segment by segment; a splat takes all that are left, and what the form has after it.
  def whole(form, segments, constraints, ending)
    splat = form.segments.index { |parts| parts.any? { |part| part in [:splat, _] } }
    head = form.segments[0...splat]
    return unless splat ? segments.size > splat && segments[splat..] != [""] : segments.size == head.size
    list = head.zip(segments).map { |parts, text| segment(parts, text, constraints, false) }
    if splat
      parts = form.segments[splat..].flat_map { |one| ["/", *one] }.drop(1)
      list << segment(parts, segments[splat..].map { |one| one.tr("/", "\0") }.join("/"), constraints, true)
    end
    return unless list.all?
    kinds = list.map(&:first)
    [list.map(&:last).inject({}, :merge), [*kinds, (ending == 3 && [nil, LITERAL].include?(kinds.last)) ? 0 : ending]]
  end

  # @return [Array(Integer, Hash), nil] the kind of a segment, and the values of its variables
  def segment(parts, text, constraints, splat)
    names = parts.grep(Array).map(&:last)
    return (parts.join == text) ? [LITERAL, {}] : nil if names.empty?
    values = values(parts, text, constraints, splat) or return
    partly = parts.size > 1 || names.any? { |name| constraints[name] }
    return [partly ? PARTLY_SPLAT : SPLAT, values] if splat
    [partly ? PARTLY : VARIABLE, values]
  end

  # As much as possible for the first variable, then for the next one.
  def values(parts, text, constraints, splat)
    return if text.empty?
    source = parts.map do |part|
      next Regexp.escape(part) if part.is_a?(String)
      anything = (splat && part.first == :variable) ? "[^/]+" : ".+"
      "(?<#{part.last}>#{constraints[part.last] || anything})"
    end
    found = text.match(/\A#{source.join}\z/m) or return
    values = found.named_captures.transform_values { |value| splat ? value.tr("\0", "/") : value }
    if values.all? { |name, value| constraints[name.to_sym].nil? || matches_whole?(constraints[name.to_sym], value) }
      values
    end
  end

  # The path without its optional parts, each in turn, those with more of them first.
  def forms(path)
    tokens = path.scan(/\\.|[:*]\w+|./m).map do |token|
      case token
      when /\A\\(.)\z/m then $1
      when /\A:(\w+)\z/ then [:variable, $1.to_sym]
      when /\A\*(\w+)\z/ then [:splat, $1.to_sym]
      when "(" then :open
      when ")" then :close
      else token
      end
    end
    expand(tokens).map { |one| form(one) }.uniq
  end

  def expand(tokens)
    start = tokens.index(:open) or return [tokens]
    depth = 0
    stop = (start...tokens.size).find do |index|
      depth += {open: 1, close: -1}.fetch(tokens[index], 0)
      depth.zero?
    end
    before, inside, after = tokens[0...start], tokens[start + 1...stop], tokens[stop + 1..]
    expand(before + inside + after) + expand(before + after)
  end

  def form(tokens)
    format = tokens.last == [:variable, :format] && tokens[-2] == "."
    tokens = tokens[0...-2] if format
    segments = [[]]
    tokens.each { |token| (token == "/") ? segments << [] : segments.last << token }
    segments.shift
    segments.pop while segments.last&.empty?
    Form.new(segments.map do |parts|
      parts.chunk_while { |one, other| one.is_a?(String) && other.is_a?(String) }.map do |run|
        run.first.is_a?(Array) ? run.first : literal(run.join)
      end
    end,
      format)
  end

  def literal(text) = text.b.gsub(/%(\h\h)/) { $1.hex.chr }.force_encoding("UTF-8")

  # Random routes and requests.
  class Generator
    LITERALS = ["a", "b", "ab", "a.b", "feed.xml", "b-", "1", "x y", "é", "%C3%A9", "a%20b", "\\:a", "\\(b\\)"].freeze
    CONSTRAINTS = [/\d+/, /[ab.]+/, /a|b/, /[^.]+/, /[a-z\/]+/, /x?/, /(\w)-(\w)/].freeze
    FORMATS = [/json/, /json|xml/].freeze
    VALUES = ["a", "b", "ab", "1", "12", "a.b", "x", "b-a", "a.json", "é", "feed", "x y", "a/b", ".x", "a.", "(b)",
      ":a"].freeze
    VERBS = ["GET", "GET", "GET", "GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", nil].freeze
    MALFORMED = ["%", "%zz", "%ff", "%00", "%0A", "a%2"].freeze

    def initialize(random)
      @random = random
    end

    # Some of them have the path of another one, or its beginning.
    def routes
      Array.new(1 + @random.rand(9)).each_with_object([]) do |_, list|
        list << ((list.any? && chance(0.4)) ? described(like(one(list).path)) : route)
      end
    end

    # @return [Array(String, String, String)] a verb, a path and the verb of a form
    def request(routes)
      route = one(routes)
      path = chance(0.85) ? path_of(route.path) : "/#{Array.new(@random.rand(4)) { escaped(one(VALUES)) }.join("/")}"
      path += one(["/", "//", ".json", ".xml", ".", "/a"]) if chance(0.15)
      path = path.sub("/") { "/#{one(MALFORMED)}" } if chance(0.02)
      path = path.gsub(/[a-z]/) { |letter| chance(0.05) ? format("%%%02x", letter.ord) : letter }
      verb = chance(0.6) ? route.verb || "GET" : one(%w[GET HEAD POST PATCH DELETE TRACE])
      verb = "POST" if RouteModel::FORM_VERBS.include?(verb) && chance(0.3)
      [verb, path, (one(%w[put PATCH delete get]) if verb == "POST" && chance(0.7))]
    end

    private

    def chance(share) = @random.rand < share

    def one(list) = list[@random.rand(list.size)]

    def route
      @names = %i[a b c d id name e f].shuffle(random: @random)
      path = Array.new(@random.rand(4)) { "/#{segment}" }.join
      if chance(0.2) && @names.size > 1
        path = "#{path}/#{"pre" if chance(0.2)}*#{@names.pop}#{one(["", "", "", "/edit", "-x", "/a/:#{@names.pop}"])}"
      end
      path = "#{path}(/#{segment}#{"(/#{segment})" if chance(0.3)})" if chance(0.2) && @names.size > 4
      path = "/a#{path}" unless path.start_with?("/") || path.empty?
      path = "/" if path.empty?
      path += one(["(.:format)", "(.:format)", ".:format"]) if chance(0.4) && path != "/"
      described(path)
    end

    def like(path)
      return path if chance(0.5)
      path = path.gsub(/(?<!\\):a\b/, ":z").gsub(/(?<!\\):b\b/, one(LITERALS))
      (path.end_with?("format)") || path.include?("*") ||
        path == "/") ? path : "#{path}(.:format)".sub(".:format(.:format)", "")
    end

    def described(path)
      names = path.scan(/(?<!\\)[:*](\w+)/).flatten.map(&:to_sym)
      constraints = names.select { chance(0.25) }.to_h { |name| [name, one((name == :format) ? FORMATS : CONSTRAINTS)] }
      Route.new(verb: one(VERBS), path: path, constraints: constraints, guard: !chance(0.1))
    end

    def segment
      return one(LITERALS) if chance(0.5) || @names.size < 2
      case @random.rand(10)
      when 0 then ":#{@names.pop}-:#{@names.pop}"
      when 1 then "b:#{@names.pop}"
      when 2 then ":#{@names.pop}(x)"
      when 3 then "(:#{@names.pop}-)#{one(LITERALS)}"
      when 4 then ":#{@names.pop}.:#{@names.pop}"
      else ":#{@names.pop}"
      end
    end

    # One that the route could match.
    def path_of(pattern)
      while (open = pattern[/(?<!\\)\((?:[^()\\]|\\.)*\)/])
        pattern = pattern.sub(open) { chance(0.5) ? open[1..-2] : "" }
      end
      pattern = pattern.gsub(/(?<!\\):format/) { one(%w[json xml csv]) }.gsub(/(?<!\\)\*\w+/) do
        Array.new(1 + @random.rand(3)) { escaped(one(VALUES)) }.join("/")
      end
      pattern = pattern.gsub(/(?<!\\):(?:name|id|[a-fz])/) { escaped(one(VALUES)) }
      pattern.gsub(/\\(.)/, '\1').gsub(/[^!-~]/) { |character| escaped(character) }
    end

    def escaped(text) = text.b.gsub(/[^A-Za-z0-9._~:()-]/n) { |byte| format("%%%02X", byte.ord) }
  end
end
