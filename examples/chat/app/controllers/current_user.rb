# frozen_string_literal: true

# The signed-in user: `current_user` in controllers and templates, and `before_action :require_sign_in` for actions that
# need one.
module CurrentUser
  RETURN_TO_SIZE = 1000 # bytes of a path, which is stored in the session

  def self.included(controller)
    controller.helper_method :current_user, :current_sign_in
  end

  private

  # @return [User, nil]
  def current_user = current_sign_in&.user

  # @return [SignIn, nil] the device of this request
  def current_sign_in
    return @_current_sign_in if defined?(@_current_sign_in)
    # The page is private, whatever the action has set.
    headers["cache-control"] = "private, no-cache" unless headers["cache-control"]&.match?(/private|no-store/)
    vary("cookie")
    @_current_sign_in = resume_sign_in
  end

  # Redirects people to the sign-in page, and back afterwards; programs get 401.
  def require_sign_in
    return if current_user
    if request.json? || env["HTTP_ACCEPT"].to_s.include?("json")
      return answer_problem(Pelton::Web::Problem.new(401, detail: "Sign in first."))
    end
    keep_return_address if request.get? || request.head?
    redirect_to new_sign_in_path
  end

  # Empties the session: its content may come from someone else.
  #
  # @return [Boolean] false if the user's password has changed since the user was loaded
  def sign_in(user, remember: false)
    started, token = SignIn.start(user, remembered: remember, device: request.user_agent, address: env["REMOTE_ADDR"])
    return false unless started
    @_return_to = session[:return_to]
    current_sign_in&.revoke
    reset_session
    @_current_sign_in = started
    write_sign_in_cookie(token)
    true
  end

  # @return [String] the path that the user asked for
  def after_sign_in_path = @_return_to || root_path

  def sign_out
    current_sign_in&.revoke
    cookies.delete(sign_in_cookie)
    reset_session
    @_current_sign_in = nil
  end

  def resume_sign_in
    id, token = cookies.encrypted[sign_in_cookie]
    sign_in, new_token = SignIn.resume(id, token) if id
    @_current_sign_in = sign_in
    write_sign_in_cookie(new_token) if new_token
    sign_in
  end

  # HttpOnly, SameSite=Lax and, under TLS, Secure by default. Clients can neither read nor forge it.
  def write_sign_in_cookie(token)
    sign_in = @_current_sign_in
    cookies.encrypted[sign_in_cookie] =
      {value: [sign_in.id, token], max_age: (sign_in.lifetime if sign_in.remembered)}.compact
  end

  # Browsers accept a cookie of this name only from this host.
  def sign_in_cookie = cookies.secure? ? "__Host-sign_in" : "sign_in"

  # A path on this host: "//other.example" would be another host.
  def keep_return_address
    path = request.fullpath
    if path.start_with?("/") && !path.match?(%r{\A//|[\0-\x20\\\x7f]}) && path.bytesize <= RETURN_TO_SIZE
      session[:return_to] = path
    end
  end
end
